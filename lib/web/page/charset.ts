import { isUtf8 } from 'node:buffer'

/** Where a page may declare its encoding, in bytes: what the HTML standard looks at. */
const DECLARATION_BYTES = 1_024
const DECLARATIONS = [
  /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i,
  /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})/,
]
const BYTE_ORDER_MARKS: [string, number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
]
/** What browsers fall back on: every byte is something in it. */
const FALLBACK = 'windows-1252'
const LAST_ASCII = 0x7f
const REPLACEMENT = '\uFFFD'

/**
 * Bytes as text, in the encoding that they are most likely in. A byte order mark decides; then what
 * can be read as UTF-8 is UTF-8, whatever its labels say, since text of another encoding hardly ever
 * can; then the label of the response's header, then the page's own.
 */
export const decodeText = (bytes: Uint8Array, label?: string): string => {
  const mark = BYTE_ORDER_MARKS.find(([, mark]) =>
    mark.every((byte, index) => bytes[index] === byte),
  )
  if (mark) return new TextDecoder(mark[0]).decode(bytes)
  const labels = [label, declaredIn(bytes)].flatMap(name => known(name))
  const hasOthers = bytes.some(byte => byte > LAST_ASCII)
  if (hasOthers && isUtf8(bytes)) return new TextDecoder().decode(bytes)
  // Only ASCII may still be something else: ISO-2022-JP, or UTF-16.
  const [first = 'utf-8'] = labels
  if (first !== 'utf-8') return new TextDecoder(first).decode(bytes)
  const asUtf8 = new TextDecoder().decode(bytes)
  if (!hasOthers || isMostlyRight(asUtf8)) return asUtf8
  const other = labels.find(name => name !== 'utf-8') ?? FALLBACK
  return new TextDecoder(other).decode(bytes)
}

/** Whether more was decoded than not: a cut or a stray byte doesn't make a text another's. */
const isMostlyRight = (text: string): boolean => {
  let balance = 0
  for (const sign of text) {
    if (sign === REPLACEMENT) balance -= 1
    else if (sign.charCodeAt(0) > LAST_ASCII) balance += 1
  }
  return balance >= 0
}

const declaredIn = (bytes: Uint8Array): string | undefined => {
  const start = Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString('latin1')
  const declared = DECLARATIONS.map(pattern => pattern.exec(start)?.[1]).find(Boolean)
  // Whoever could read that in ASCII reads no UTF-16 (as the HTML standard has it).
  return declared && /^utf-?16/i.test(declared) ? 'utf-8' : declared
}

/** An encoding's own name, if there is one of that label. */
const known = (label: string | undefined): string[] => {
  if (!label) return []
  try {
    return [new TextDecoder(label.trim()).encoding]
  } catch {
    return []
  }
}
