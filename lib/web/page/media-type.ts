/** What is done with a document: laid out, read as a PDF, shown as it is, or not read at all. */
export type DocumentKind = 'html' | 'pdf' | 'text' | 'binary'

export type MediaType = { essence: string; charset: string | undefined }

const TOKEN = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/
const MAX_CHARS = 100
const TEXTUAL = new Set(
  (
    'json ld+json x-ndjson xml javascript ecmascript x-javascript yaml x-yaml toml csv sql graphql ' +
    'x-sh x-httpd-php rtf x-tex x-subrip'
  )
    .split(' ')
    .map(name => `application/${name}`),
)
/** Types that say nothing: servers give them to whatever they don't know. */
const VAGUE = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'text/plain'])
/** How much of a document is looked at to see what it is, in bytes. */
export const SNIFF_BYTES = 1_024

/** A Content-Type header's parts; an essence that is none is empty. */
export const parseMediaType = (header: string | null): MediaType => {
  const [essence = '', ...parameters] = (header ?? '').split(';').map(part => part.trim())
  const charset = parameters
    .map(parameter => /^charset\s*=\s*"?([^"\s]{1,40})"?$/i.exec(parameter)?.[1])
    .find(Boolean)
  const clean = essence.toLowerCase()
  return { essence: TOKEN.test(clean) && clean.length <= MAX_CHARS ? clean : '', charset }
}

/** What a document is, from its type alone; undefined where only its first bytes tell. */
export const kindOf = (essence: string): DocumentKind | undefined => {
  if (VAGUE.has(essence)) return undefined
  if (essence === 'text/html' || essence === 'application/xhtml+xml') return 'html'
  if (essence === 'application/pdf' || essence === 'application/x-pdf') return 'pdf'
  if (essence.startsWith('text/') || TEXTUAL.has(essence)) return 'text'
  return /\+(json|xml|yaml)$/.test(essence) ? 'text' : 'binary'
}

/** What a document is, from how it begins; what says that it is plain text is never a page. */
export const sniffKind = (bytes: Uint8Array, essence: string): DocumentKind => {
  const start = Buffer.from(bytes.subarray(0, SNIFF_BYTES))
  const text = start.toString('latin1')
  if (text.startsWith('%PDF-')) return 'pdf'
  const isUtf16 = text.startsWith('\xfe\xff') || text.startsWith('\xff\xfe')
  if (start.includes(0) && !isUtf16) return 'binary'
  if (essence === 'text/plain') return 'text'
  return /^\W{0,8}<(!doctype\s+html|html[\s>]|head[\s>]|body[\s>])/i.test(text) ? 'html' : 'text'
}
