import type TurndownService from 'turndown'
import { absoluteAddress } from './address.ts'

/** A language in a code block's classes, as highlighters write them. */
const LANGUAGE = /(?:^|\s)(?:language-|lang-|highlight-source-|sourceCode\s+)([\w+#.-]{1,30})/
const FENCE = '```'

/** An element's content as Markdown, its addresses made absolute. */
export const toMarkdown = async (element: Element, base: URL): Promise<string> => {
  const { default: Turndown } = await import('turndown/lib/turndown.browser.cjs.js')
  const turndown = new Turndown({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
    hr: '---',
  })
  // A model reads it, and nothing renders it: backslashes before half of all signs only cost tokens.
  turndown.escape = text => text
  addRules(turndown, base)
  return turndown.turndown(element as HTMLElement)
}

const addRules = (turndown: TurndownService, base: URL): void => {
  turndown.addRule('link', {
    filter: 'a',
    replacement: (content, node) => {
      const url = absoluteAddress(attributeOf(node, 'href'), base)
      const words = oneLine(content)
      return url === undefined || words === '' ? content : `[${words}](${url})`
    },
  })
  turndown.addRule('image', {
    filter: 'img',
    replacement: (_, node) => {
      const url = absoluteAddress(attributeOf(node, 'src'), base)
      const words = oneLine(attributeOf(node, 'alt'))
      if (url !== undefined) return `![${words}](${url})`
      return words === '' ? '' : `![${words}]`
    },
  })
  turndown.addRule('code-block', {
    filter: 'pre',
    replacement: (_, node) => {
      const element = node as HTMLElement
      const code = (element.textContent ?? '').replace(/^\n|\n+$/g, '')
      // One more backtick than any line of it begins with.
      const fence = FENCE.padEnd(longestFence(code) + 1, '`')
      return `\n\n${fence}${languageOf(element)}\n${code}\n${fence}\n\n`
    },
  })
  turndown.addRule('numbered', {
    filter: ({ nodeName, parentNode }) => nodeName === 'LI' && parentNode?.nodeName === 'OL',
    replacement: (content, node) => {
      const text = content.trim().replaceAll('\n', '\n    ')
      const end = node.nextSibling ? '\n' : ''
      return `${nextNumber(node.parentNode as Element)}.  ${text}${end}`
    },
  })
  turndown.addRule('struck', {
    filter: ['del', 's'],
    replacement: content => `~~${content}~~`,
  })
  // As words they would read 23 for 2³.
  turndown.addRule('raised', {
    filter: ['sup', 'sub'],
    replacement: (content, { nodeName }) => {
      const name = nodeName.toLowerCase()
      return content.trim() === '' ? '' : `<${name}>${content}</${name}>`
    },
  })
  turndown.addRule('term', {
    filter: 'dt',
    replacement: content => `\n\n**${oneLine(content)}**\n`,
  })
  turndown.addRule('explanation', {
    filter: 'dd',
    replacement: content => `\n: ${content.trim().replaceAll('\n', '\n  ')}\n`,
  })
  addTableRules(turndown)
}

/** Tables become rows; those that only lay out what is in them become what is in them. */
const addTableRules = (turndown: TurndownService): void => {
  turndown.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content, node) =>
      isData(tableOf(node)) ? `| ${cell(content)} ` : `\n\n${content}\n\n`,
  })
  turndown.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => {
      const table = tableOf(node)
      if (!isData(table)) return content
      const row = `${oneLine(content)} |\n`
      if (node !== table?.querySelector('tr')) return row
      return `${row}${'| --- '.repeat((node as Element).children.length)}|\n`
    },
  })
  turndown.addRule('table-part', {
    filter: ['thead', 'tbody', 'tfoot'],
    replacement: content => content,
  })
  turndown.addRule('caption', {
    filter: 'caption',
    replacement: content => `\n\n${oneLine(content)}\n\n`,
  })
  turndown.addRule('table', { filter: 'table', replacement: content => `\n\n${content}\n\n` })
}

const numbers = new WeakMap<Element, number>()

/** The number of a list's next item; to look for an item's place would take as long as the list is. */
const nextNumber = (list: Element): number => {
  const start = Number.parseInt(attributeOf(list, 'start') || '1', 10)
  const number = numbers.get(list) ?? (Number.isSafeInteger(start) ? start : 1)
  numbers.set(list, number + 1)
  return number
}

const tableOf = (node: Node): Element | null => (node as Element).closest('table')

/** What no row of a table can hold on one line. */
const LAID_OUT = 'table, pre, h1, h2, h3, ul ul'
const verdicts = new WeakMap<Element, boolean>()

/** Whether a table's cells are short enough to stand in rows; asked once for each table. */
const isData = (table: Element | null): boolean => {
  if (!table) return false
  const known = verdicts.get(table)
  if (known !== undefined) return known
  const rows = table.querySelectorAll('tr').length
  const cells = table.querySelectorAll('td, th').length
  const verdict = rows > 1 && cells > rows && table.querySelector(LAID_OUT) === null
  verdicts.set(table, verdict)
  return verdict
}

const cell = (content: string): string =>
  content
    .trim()
    .replaceAll('|', '\\|')
    .replaceAll(/\s*\n\s*/g, ' ')

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

const attributeOf = (node: Node, name: string): string => (node as Element).getAttribute(name) ?? ''

const languageOf = (element: HTMLElement): string => {
  const holders = [element, element.querySelector('code'), element.parentElement]
  for (const holder of holders) {
    const language = LANGUAGE.exec(holder?.getAttribute('class') ?? '')?.[1]
    if (language) return language
  }
  return ''
}

/** The most backticks that a line begins with. */
const longestFence = (code: string): number => {
  let longest = 0
  for (const [run] of code.matchAll(/^`+/gm)) longest = Math.max(longest, run.length)
  return longest
}
