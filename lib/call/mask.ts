import type { ToolResult } from '../tool/result.ts'
import { MIN_SECRET_CHARS } from '../tool/setting.ts'

/** What a secret becomes wherever a call's outcome would show it. */
const MASKED = '***'
/** How often JSON may be within JSON: an answer that a tool passes on within its own is two. */
const MAX_JSON_LEVELS = 3

/** A result with these secrets masked in what it says; the names of its fields are ours. */
export const maskResult = (result: ToolResult, secrets: string[]): ToolResult => ({
  ...result,
  content: maskSecrets(result.content, secrets),
  ...(result.data === undefined ? {} : { data: maskSecrets(result.data, secrets) }),
  ...(result.question === undefined ? {} : { question: maskSecrets(result.question, secrets) }),
})

/**
 * Masks exactly these secrets in all texts of a value, as they are, escaped as in JSON,
 * URL-encoded and in base64: the last line of defence for what a tool returns or throws.
 */
export const maskSecrets = <T>(value: T, secrets: string[]): T => {
  const forms = secrets
    // Tools trim what they read, so the space around a secret is no part of it.
    .map(secret => secret.toWellFormed().trim())
    .filter(secret => secret.length >= MIN_SECRET_CHARS)
    .flatMap(formsOf)
    .sort((a, b) => b.length - a.length)
  return isAnyIn(forms, value) ? (maskIn(value, forms) as T) : value
}

/** A look at the whole first: to look for each form in each of a million texts takes minutes. */
const isAnyIn = (forms: string[], value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return forms.length > 0
  const json = JSON.stringify(value)
  // Within a text of JSON each form is escaped once more.
  return forms.some(form => json.includes(escapedOnce(form)))
}

/** Bytes with these secrets masked, byte by byte, so that what else is in them stays as it is. */
export const maskBytes = (bytes: Uint8Array, secrets: string[]): Uint8Array => {
  const text = Buffer.from(bytes).toString('latin1')
  const spelled = secrets.map(secret => Buffer.from(secret).toString('latin1'))
  const masked = maskSecrets(text, [...secrets, ...spelled])
  return masked === text ? bytes : Buffer.from(masked, 'latin1')
}

const maskIn = (value: unknown, forms: string[]): unknown => {
  if (typeof value === 'string') {
    if (value.length < MIN_SECRET_CHARS) return value
    return forms.reduce((text, form) => text.replaceAll(form, MASKED), value)
  }
  if (typeof value === 'number')
    return forms.some(form => String(value).includes(form)) ? MASKED : value
  if (Array.isArray(value)) return value.map(item => maskIn(item, forms))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [maskIn(key, forms), maskIn(item, forms)]),
  )
}

const formsOf = (secret: string): string[] => {
  const forms = [secret, ...jsonForms(secret), ...percentForms(secret), ...base64Forms(secret)]
  return [...new Set(forms)].filter(form => form.length >= MIN_SECRET_CHARS)
}

/** What writers of JSON escape beyond what they must: nothing, what isn't ASCII, what HTML reads. */
const ESCAPED_TOO = [/(?!)/g, /[^\0-\x7f]/g, /[<>&\u2028\u2029]/g, /[^\0-\x7f]|[<>&]/g]

/** As each kind of JSON has it, with and without `\/`, by itself and within more JSON. */
const jsonForms = (secret: string): string[] =>
  ESCAPED_TOO.flatMap(pattern => {
    const text = escapedOnce(secret).replace(
      pattern,
      unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    const shouted = text.replace(/\\u[0-9a-f]{4}/g, code => `\\u${code.slice(2).toUpperCase()}`)
    return [text, shouted].flatMap(form => [form, form.replaceAll('/', '\\/')])
  }).flatMap(form => {
    const nested = [form]
    for (let level = 1; level < MAX_JSON_LEVELS; level++)
      nested.push(escapedOnce(nested.at(-1) ?? ''))
    return nested
  })

const escapedOnce = (text: string): string => JSON.stringify(text).slice(1, -1)

/**
 * Base64 of a secret within a longer text depends on where it starts: the three alignments, each
 * without the characters that its neighbours take part in; in both alphabets.
 */
const base64Forms = (secret: string): string[] => {
  const encoded = [0, 1, 2].map(offset => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
    const text = bytes.toString('base64').replace(/=+$/, '')
    const tail = bytes.length % 3 === 0 ? text.length : text.length - 1
    return text.slice(Math.ceil((offset * 8) / 6), tail)
  })
  const url = encoded.map(text => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [...encoded, ...url]
}

/** As the platform encodes URLs and their parts, as RFC 3986 wants it, and as forms do. */
const percentForms = (secret: string): string[] => {
  const plain = encodeURIComponent(secret)
  const strict = plain.replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const form = new URLSearchParams([['', secret]]).toString().slice(1)
  return [plain, strict, form, encodeURI(secret)].flatMap(text => [
    text,
    text.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase()),
  ])
}
