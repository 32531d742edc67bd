import type { HttpResponse } from './http.ts'

/** S3 answers errors in XML, and a HEAD without a word. */
export const errorOf = (response: HttpResponse): { code: string; message: string } => {
  const text = textOf(response)
  const fallback = response.status === 404 ? 'NotFound' : `Http${response.status}`
  return {
    code: elements(text, 'Code')[0] ?? fallback,
    message: unescapeXml(elements(text, 'Message')[0] ?? `It answered ${response.status}.`),
  }
}

/** S3 may say 200 first, and find out later that it can't. */
export const isErrorDocument = (response: HttpResponse): boolean =>
  /^\s*(?:<\?xml[^>]*>\s*)?<Error>/.test(textOf(response))

export const textOf = ({ body }: HttpResponse): string => Buffer.from(body).toString()

/** What stands in the elements of a name, which have no attributes and none of their own name within. */
export const elements = (text: string, name: string): string[] =>
  [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inner = '']) => inner)

const ENTITIES = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" }

export const escapeXml = (text: string): string =>
  text.replace(/[&<>"'\r\n\t]/g, character => `&#${character.charCodeAt(0)};`)

export const unescapeXml = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|\w+);/gi, (entity, decimal, hex) => {
    if (decimal) return String.fromCodePoint(Number(decimal))
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16))
    return ENTITIES[entity as keyof typeof ENTITIES] ?? entity
  })
