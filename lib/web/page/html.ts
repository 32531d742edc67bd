import { type CleanPage, cleanPage } from './clean.ts'
import { toMarkdown } from './markdown.ts'
import { plainText } from './plain.ts'

/** A page as it is read: its title, its text, and what must be said of how that was made. */
export type PageText = { title?: string; text: string; note?: string }

/**
 * What an article's extraction may be given: it walks the tree many times and can't be stopped, so
 * this bounds it to some seconds on one core. Long pages of reference works have half of that.
 */
export const MAX_PIECES = 40_000
export const MAX_TEXT_CHARS = 2_000_000
/** Of the page's main part, an article has at least this share; with less, something was lost. */
const MIN_ARTICLE_SHARE = 0.5

const ONLY_WORDS =
  'The page is too large or too strange to be laid out: these are its words and links alone.'
const NO_WORDS = 'The page holds no text. Scripts may make it, and none are run here.'

/** A page of HTML as Markdown: its article, or its main part, or all of it, absolute links included. */
export const htmlToMarkdown = async (html: string, url: URL): Promise<PageText> => {
  const page = await cleanPage(html)
  const base = URL.parse(page.base ?? '', url) ?? url
  const title = page.title === '' ? {} : { title: page.title }
  const text = await extracted(page, base)
  if (text) return { ...title, text }
  const plain = await plainText(html, base)
  return { ...title, text: plain, note: plain === '' ? NO_WORDS : ONLY_WORDS }
}

const extracted = async (page: CleanPage, base: URL): Promise<string | undefined> => {
  if (page.pieces > MAX_PIECES || page.textChars > MAX_TEXT_CHARS) return undefined
  try {
    return await toMarkdown(await mainElement(page.html), base)
  } catch (error) {
    // Odd trees make the extractor fail, or end the stack; the words are still there to be read.
    if (error instanceof Error) return undefined
    throw error
  }
}

/**
 * The part of a page that it is there for. An extractor of articles finds it best in long texts; it
 * drops what looks like a list of links, and whole sections of reference pages, so its find is taken
 * only where it has most of what the page itself marks as its main part.
 */
const mainElement = async (html: string): Promise<Element> => {
  const { parseHTML } = await import('linkedom')
  const { isProbablyReaderable, Readability } = await import('@mozilla/readability')
  const parse = () => {
    const { document } = parseHTML(html)
    for (const element of [...document.querySelectorAll(CONSENT)]) element.remove()
    return document
  }
  const document = parse()
  const whole = withoutSurroundings(document)
  if (!isProbablyReaderable(document)) return whole
  const article = new Readability(parse(), {
    serializer: node => node as Element,
    keepClasses: true,
    disableJSONLD: true,
  }).parse()
  const length = article?.textContent?.length ?? 0
  if (!article?.content || length < MIN_ARTICLE_SHARE * (whole.textContent?.length ?? 0))
    return whole
  return article.content
}

const MAIN = 'main, [role="main"], article'
const SURROUNDINGS =
  'nav, footer, aside, [role="navigation"], [role="banner"], [role="contentinfo"], ' +
  '[role="dialog"], [aria-hidden="true"]'
/** What asks for consent, by the names that it goes by. */
const CONSENT = ['banner', 'consent', 'notice', 'bar', 'popup']
  .flatMap(what => [`[class*="cookie-${what}"]`, `[id*="cookie-${what}"]`])
  .join()

/** The main part as the page marks it, or its body, without what stands around it. */
const withoutSurroundings = (document: Document): Element => {
  const marked = [...document.querySelectorAll(MAIN)]
  const outermost = marked.filter(element => !element.parentElement?.closest(MAIN))
  const [main, ...others] = outermost
  const root = main && others.length === 0 ? main : document.body
  for (const element of [...root.querySelectorAll(SURROUNDINGS)]) element.remove()
  return root
}
