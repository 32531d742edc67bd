/** What a secret becomes wherever a call's outcome would show it. */
const MASKED = '***'
/** A shorter secret would mask ordinary words; its owner was told so by nobody, so none is kept. */
export const MIN_SECRET_CHARS = 4

/**
 * Masks exactly these secrets in all texts of a value, as they are, URL-encoded and in base64:
 * the last line of defence for what a tool returns or throws.
 */
export const maskSecrets = <T>(value: T, secrets: string[]): T => {
  const forms = secrets
    .filter(secret => secret.length >= MIN_SECRET_CHARS)
    .flatMap(formsOf)
    .sort((a, b) => b.length - a.length)
  return forms.length > 0 ? (maskIn(value, forms) as T) : value
}

const maskIn = (value: unknown, forms: string[]): unknown => {
  if (typeof value === 'string')
    return forms.reduce((text, form) => text.replaceAll(form, MASKED), value)
  if (Array.isArray(value)) return value.map(item => maskIn(item, forms))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [maskIn(key, forms), maskIn(item, forms)]),
  )
}

/**
 * Base64 of a secret within a longer text depends on where it starts: the three alignments, each
 * without the characters that its neighbours take part in.
 */
const formsOf = (secret: string): string[] => {
  const encoded = [0, 1, 2].map(offset => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
    const text = bytes.toString('base64').replace(/=+$/, '')
    const tail = bytes.length % 3 === 0 ? text.length : text.length - 1
    return text.slice(Math.ceil((offset * 8) / 6), tail)
  })
  const url = encoded.map(text => text.replaceAll('+', '-').replaceAll('/', '_'))
  const json = JSON.stringify(secret).slice(1, -1)
  const forms = [secret, json, ...percentForms(secret), ...encoded, ...url]
  return [...new Set(forms)].filter(form => form.length >= MIN_SECRET_CHARS)
}

/** As the platform encodes URLs, as RFC 3986 wants it, and as forms do; each in both cases. */
const percentForms = (secret: string): string[] => {
  const plain = encodeURIComponent(secret.toWellFormed())
  const strict = plain.replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const form = new URLSearchParams([['', secret]]).toString().slice(1)
  return [plain, strict, form].flatMap(text => [
    text,
    text.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase()),
  ])
}
