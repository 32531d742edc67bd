import { S3Error } from './errors.ts'

/** What every document of S3's API declares, in requests and answers. */
const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'

export type XmlNode = [name: string, content: string | number | boolean | XmlNode[]]
export type XmlElement = { name: string; text: string; children: XmlElement[] }

/** A document of S3's API as text. */
export const renderXml = (name: string, nodes: XmlNode[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="${NAMESPACE}">${nodes.map(render).join('')}</${name}>`

/** An error document, which S3 sends without a namespace. */
export const renderErrorXml = (nodes: XmlNode[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${nodes.map(render).join('')}</Error>`

const render = ([name, content]: XmlNode): string =>
  `<${name}>${Array.isArray(content) ? content.map(render).join('') : escapeText(String(content))}</${name}>`

/**
 * Control characters go as references, as S3 sends them: XML 1.0 has no other way to carry them,
 * and a parser turns a bare carriage return into a line feed, which would be another key.
 */
const escapeText = (text: string): string =>
  text.replace(/[&<>"\p{Cc}\u2028\ufffe\uffff]/gu, character => {
    if (character === '&') return '&amp;'
    if (character === '<') return '&lt;'
    if (character === '>') return '&gt;'
    if (character === '"') return '&quot;'
    return `&#x${(character.codePointAt(0) ?? 0).toString(16)};`
  })

/**
 * The root element of a request's document. Elements, text, entities, CDATA and comments only:
 * a document type is refused, so nothing can be expanded or fetched. Throws MalformedXML.
 */
export const parseXml = (text: string): XmlElement => {
  const root: XmlElement = { name: '', text: '', children: [] }
  const open = [root]
  let position = 0
  while (position < text.length) {
    const parent = open.at(-1) ?? root
    const token = nextToken(text, position)
    position = token.end
    if (token.kind === 'text') parent.text += token.text
    if (token.kind === 'close') {
      if (open.length === 1 || parent.name !== token.name) throw malformed()
      open.pop()
    }
    if (token.kind === 'open') {
      const element: XmlElement = { name: token.name, text: '', children: [] }
      parent.children.push(element)
      if (!token.empty) open.push(element)
    }
  }
  const [document, ...others] = root.children
  if (open.length > 1 || !document || others.length > 0 || root.text.trim()) throw malformed()
  return document
}

export const childrenOf = (element: XmlElement, name: string): XmlElement[] =>
  element.children.filter(child => child.name === name)

export const textOf = (element: XmlElement, name: string): string | undefined =>
  element.children.find(child => child.name === name)?.text

type Token =
  | { kind: 'text'; text: string; end: number }
  | { kind: 'open'; name: string; empty: boolean; end: number }
  | { kind: 'close'; name: string; end: number }
  | { kind: 'none'; end: number }

const nextToken = (text: string, start: number): Token => {
  if (text[start] !== '<') {
    const next = text.indexOf('<', start)
    const end = next < 0 ? text.length : next
    return { kind: 'text', text: decodeEntities(text.slice(start, end)), end }
  }
  if (text.startsWith('<!--', start)) return { kind: 'none', end: after(text, '-->', start) }
  if (text.startsWith('<?', start)) return { kind: 'none', end: after(text, '?>', start) }
  if (text.startsWith(CDATA, start)) {
    const end = after(text, ']]>', start)
    return { kind: 'text', text: text.slice(start + CDATA.length, end - 3), end }
  }
  const end = after(text, '>', start)
  const tag = /^<(\/?)([A-Za-z_][\w.-]*)(?:\s[^<]*?)?(\/?)>$/.exec(text.slice(start, end))
  const name = tag?.[2]
  if (!tag || !name) throw malformed()
  if (tag[1]) return { kind: 'close', name, end }
  return { kind: 'open', name, empty: tag[3] === '/', end }
}

const CDATA = '<![CDATA['

const after = (text: string, mark: string, start: number): number => {
  const found = text.indexOf(mark, start)
  if (found < 0) throw malformed()
  return found + mark.length
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const HIGHEST_CODE_POINT = 0x10ffff

const decodeEntities = (text: string): string =>
  text.replace(/&([^;&]*);?/g, (_, name: string) => {
    const named = ENTITIES[name]
    if (named) return named
    const number = /^#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))$/i.exec(name)
    if (!number) throw malformed()
    const point = number[1] ? Number.parseInt(number[1], 16) : Number(number[2])
    if (point > HIGHEST_CODE_POINT) throw malformed()
    return String.fromCodePoint(point)
  })

const malformed = (): S3Error =>
  new S3Error('MalformedXML', 'The XML you provided was not well-formed.')
