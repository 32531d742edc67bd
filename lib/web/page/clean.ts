import { readTokens, type Tag } from './tokens.ts'

/** A page with what matters of it alone, in HTML that is safe to make a tree of. */
export type CleanPage = {
  title: string
  /** What its addresses are relative to, where it says so. */
  base: string | undefined
  html: string
  /** Tags and entities in the HTML: each is a piece of work for whatever reads it. */
  pieces: number
  textChars: number
}

/** Tags within tags; whatever is deeper is kept without its tags. No honest page has as many. */
export const MAX_DEPTH = 100
/** Quotes and lists within their like: each level makes every line in it longer. */
const MAX_INDENTS = 10
const MAX_ATTRIBUTE_CHARS = 200
/** Browsers take addresses of many thousand characters; a longer one is most often an image itself. */
const MAX_ADDRESS_CHARS = 4_000
const MAX_TITLE_CHARS = 500

const DROPPED = new Set(
  'html head body title meta link base frame source track param area col wbr form label'.split(' '),
)
const EMPTY = new Set(['br', 'hr', 'img', 'input'])
/**
 * Blanks in a row, and breaks with nothing between, that are kept: what lays the page out looks at
 * each of a row as often as the row is long. In preformatted text they may matter.
 */
export const MAX_BLANKS = { usual: 1, preformatted: 200 }
export const MAX_BREAKS = 50
const INDENTING = new Set(['blockquote', 'ul', 'ol'])
const KEPT_ATTRIBUTES = [
  'class',
  'id',
  'role',
  'aria-hidden',
  'start',
  'colspan',
  'rel',
  'itemprop',
]
const LAZY_SOURCES = ['data-src', 'data-original', 'data-lazy-src']
const words = (text: string) => new Set(text.split(' '))
const PARAGRAPH_ENDERS =
  'p div ul ol dl table section article aside header footer main nav figure figcaption blockquote ' +
  'pre h1 h2 h3 h4 h5 h6 hr address details summary fieldset center'
/** What an opening tag ends, unless one of the third kind stands between (HTML, "optional tags"). */
const RULES = [
  { opened: words('a'), ends: words('a'), within: words('table') },
  { opened: words('li'), ends: words('li'), within: words('ul ol') },
  { opened: words('dt dd'), ends: words('dt dd'), within: words('dl') },
  { opened: words('td th'), ends: words('td th'), within: words('table') },
  { opened: words('tr'), ends: words('tr'), within: words('table') },
  {
    opened: words('thead tbody tfoot'),
    ends: words('thead tbody tfoot'),
    within: words('table'),
  },
  { opened: words(PARAGRAPH_ENDERS), ends: words('p'), within: words('table td th li dd') },
]
const NAME = /^[a-z][a-z0-9-]{0,30}$/

/**
 * Reduces a page to its words, its structure and its addresses. Every tag is closed in its turn, and
 * those that are too deep are left out, so that building a tree takes time in proportion to the page,
 * and what walks the tree doesn't run out of stack.
 */
export const cleanPage = async (html: string): Promise<CleanPage> => {
  const parts: string[] = []
  const stack: string[] = []
  const dropped = new Map<string, number>()
  let pieces = 0
  let textChars = 0
  let title = ''
  let socialTitle = ''
  let inTitle = false
  let base: string | undefined
  let blanks = 0
  let breaks = 0

  /** Counts on from one text to the next: an entity is one by itself, and tags stand between. */
  const withFewBlanks = (text: string): string => {
    const most = stack.includes('pre') ? MAX_BLANKS.preformatted : MAX_BLANKS.usual
    return text.replaceAll(/(\s+)|\S+/g, (run, white?: string) => {
      const room = most - blanks
      blanks = white ? blanks + white.length : 0
      if (!white) breaks = 0
      return white ? white.slice(0, Math.max(room, 0)) : run
    })
  }
  const emit = (part: string) => {
    pieces += 1
    parts.push(part)
  }
  const closeFrom = (index: number) => {
    for (const name of stack.splice(index).reverse()) emit(`</${name}>`)
  }

  await readTokens(html, {
    open: tag => {
      const { name, attributes } = tag
      if (name === 'title') inTitle = title === ''
      if (name === 'base') base ??= attributes.get('href')
      if (name === 'meta' && attributes.get('property') === 'og:title')
        socialTitle ||= (attributes.get('content') ?? '').slice(0, MAX_TITLE_CHARS)
      if (DROPPED.has(name) || !NAME.test(name)) return
      if (name === 'input') {
        if (attributes.get('type') === 'checkbox') emit(attributes.has('checked') ? '[x] ' : '[ ] ')
        return
      }
      const ended = endedBy(name, stack)
      if (ended >= 0) closeFrom(ended)
      if (name === 'br' && ++breaks > MAX_BREAKS) return
      if (EMPTY.has(name)) return emit(written(tag))
      if (isTooDeep(name, stack)) return add(dropped, name, 1)
      stack.push(name)
      emit(written(tag))
    },
    close: name => {
      if (name === 'title') inTitle = false
      if ((dropped.get(name) ?? 0) > 0) return add(dropped, name, -1)
      const index = stack.lastIndexOf(name)
      if (index >= 0) closeFrom(index)
    },
    text: text => {
      if (inTitle) {
        if (title.length < MAX_TITLE_CHARS) title += text.slice(0, MAX_TITLE_CHARS)
        return
      }
      textChars += text.length
      pieces += text.match(/[&<]/g)?.length ?? 0
      parts.push(escaped(withFewBlanks(text)))
    },
  })
  closeFrom(0)
  const shown = (socialTitle || title).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TITLE_CHARS)
  const whole = `<html><head><title>${escaped(shown)}</title></head><body>${parts.join('')}</body></html>`
  return { title: shown, base, html: whole, pieces, textChars }
}

const isTooDeep = (name: string, stack: readonly string[]): boolean =>
  stack.length >= MAX_DEPTH ||
  (INDENTING.has(name) && stack.filter(open => open === name).length >= MAX_INDENTS)

/** Where the stack is closed from when a tag opens, since HTML lets ends be left out; or -1. */
const endedBy = (name: string, stack: readonly string[]): number => {
  const rule = RULES.find(({ opened }) => opened.has(name))
  if (!rule) return -1
  for (let index = stack.length - 1; index >= 0; index--) {
    const open = stack[index] ?? ''
    if (rule.ends.has(open)) return index
    if (rule.within.has(open)) return -1
  }
  return -1
}

const written = ({ name, attributes }: Tag): string => {
  const kept = KEPT_ATTRIBUTES.flatMap(key => {
    const value = attributes.get(key)
    return value === undefined ? [] : [` ${key}="${quoted(value.slice(0, MAX_ATTRIBUTE_CHARS))}"`]
  })
  if (name === 'a') kept.push(address('href', attributes.get('href')))
  if (name === 'img')
    kept.push(
      address('src', sourceOf(attributes)),
      ` alt="${quoted((attributes.get('alt') ?? '').slice(0, MAX_ATTRIBUTE_CHARS))}"`,
    )
  return `<${name}${kept.join('')}>`
}

/** An image's address: with a placeholder in its place, the true one waits for a script. */
const sourceOf = (attributes: Map<string, string>): string | undefined =>
  LAZY_SOURCES.map(name => attributes.get(name)).find(Boolean) ?? attributes.get('src')

const address = (name: string, value: string | undefined): string =>
  value === undefined || value.length > MAX_ADDRESS_CHARS ? '' : ` ${name}="${quoted(value)}"`

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const quoted = (text: string): string => escaped(text).replaceAll('"', '&quot;')

const add = (counts: Map<string, number>, name: string, by: number): void => {
  counts.set(name, (counts.get(name) ?? 0) + by)
}
