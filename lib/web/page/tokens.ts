/** A tag as it opens: its name in lower case, and its attributes, the first of each name. */
export type Tag = { name: string; attributes: Map<string, string> }

export type TokenHandler = {
  open: (tag: Tag) => void
  close: (name: string) => void
  text: (text: string) => void
}

/** What holds no words to read. Scripts and styles among it would be read as text elsewhere. */
const SKIPPED = new Set(
  (
    'script style noscript template iframe frameset object embed applet svg canvas audio video map ' +
    'select datalist textarea button'
  ).split(' '),
)
/** An end of these is often left out, so nothing can be skipped up to it. */
const OPTIONAL_END = new Set('p li dt dd td th tr thead tbody tfoot option body html'.split(' '))
const VOID = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
)
const HIDING_STYLE = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i

/**
 * Reads HTML piece by piece, in time that grows with its length alone, whatever is in it: no tree is
 * made and no end is looked for. Comments, code and what a browser would not show are left out.
 */
export const readTokens = async (html: string, handler: TokenHandler): Promise<void> => {
  const { Tokenizer } = await import('htmlparser2')
  let tag: Tag = { name: '', attributes: new Map() }
  let attribute = ''
  let value: string[] = []
  /** What is skipped up to its own end, and how many of its name are open inside. */
  let skipping = ''
  let depth = 0

  const open = () => {
    const { name } = tag
    if (skipping !== '') {
      if (name === skipping) depth += 1
    } else if (!VOID.has(name) && !OPTIONAL_END.has(name) && isSkipped(tag)) {
      skipping = name
      depth = 1
    } else handler.open(tag)
  }
  const close = (name: string) => {
    if (skipping === '') return handler.close(name)
    if (name !== skipping) return
    depth -= 1
    if (depth === 0) skipping = ''
  }
  const text = (words: string) => {
    if (skipping === '') handler.text(words)
  }

  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname: (start, end) => {
        tag = { name: html.slice(start, end).toLowerCase(), attributes: new Map() }
      },
      onattribname: (start, end) => {
        attribute = html.slice(start, end).toLowerCase()
        value = []
      },
      onattribdata: (start, end) => {
        value.push(html.slice(start, end))
      },
      onattribentity: code => {
        value.push(String.fromCodePoint(code))
      },
      onattribend: () => {
        if (!tag.attributes.has(attribute)) tag.attributes.set(attribute, value.join(''))
      },
      onopentagend: open,
      // HTML knows none: <div/> opens a div.
      onselfclosingtag: open,
      onclosetag: (start, end) => close(html.slice(start, end).toLowerCase()),
      ontext: (start, end) => text(html.slice(start, end)),
      ontextentity: code => text(String.fromCodePoint(code)),
      oncdata: (start, end) => text(html.slice(start, end)),
      oncomment: () => {},
      ondeclaration: () => {},
      onprocessinginstruction: () => {},
      onend: () => {},
    },
  )
  tokenizer.write(html)
  tokenizer.end()
}

const isSkipped = ({ name, attributes }: Tag): boolean =>
  SKIPPED.has(name) ||
  (attributes.has('hidden') && attributes.get('hidden') !== 'until-found') ||
  HIDING_STYLE.test((attributes.get('style') ?? '').slice(0, MAX_STYLE_CHARS))

const MAX_STYLE_CHARS = 500
