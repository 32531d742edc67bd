import { absoluteAddress } from './address.ts'
import { readTokens } from './tokens.ts'

const BLOCKS = new Set(
  (
    'address article aside blockquote body br caption dd details dialog div dl dt fieldset figcaption ' +
    'figure footer form header hr html legend main nav ol p pre section summary table tr ul'
  ).split(' '),
)
const ENDS_BLANK = /\s$/
const HEADING = /^h([1-6])$/

/**
 * A page's words in their order, with its paragraphs, headings, list items and links, and no more of
 * its structure: for pages that are too large or too strange for anything better.
 */
export const plainText = async (html: string, base: URL): Promise<string> => {
  const parts: string[] = []
  let href: string | undefined
  let inHead = false
  let inCode = false
  const endLink = () => {
    if (href !== undefined) parts.push(`](${href})`)
    href = undefined
  }
  await readTokens(html, {
    open: ({ name, attributes }) => {
      if (name === 'title') inHead = true
      if (name === 'pre') inCode = true
      if (BLOCKS.has(name)) parts.push('\n')
      if (name === 'li') parts.push('\n- ')
      if (name === 'td' || name === 'th') parts.push(' | ')
      const level = HEADING.exec(name)?.[1]
      if (level) parts.push(`\n${'#'.repeat(Number(level))} `)
      if (name !== 'a') return
      endLink()
      href = absoluteAddress(attributes.get('href') ?? '', base)
      if (href !== undefined) parts.push('[')
    },
    close: name => {
      if (name === 'title') inHead = false
      if (name === 'pre') inCode = false
      if (name === 'a') endLink()
      if (BLOCKS.has(name) || HEADING.test(name)) parts.push('\n')
    },
    text: text => {
      if (inHead) return
      const words = inCode ? text : text.replaceAll(/\s+/g, ' ')
      parts.push(!inCode && ENDS_BLANK.test(parts.at(-1) ?? '') ? words.trimStart() : words)
    },
  })
  endLink()
  return parts
    .join('')
    .split('\n')
    .map(line => line.trimEnd())
    .filter((line, index, lines) => line !== '' || (lines[index - 1] ?? '') !== '')
    .join('\n')
    .trim()
}
