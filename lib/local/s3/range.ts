import { S3Error } from './errors.ts'

export type ByteRange = { start: number; end: number }

/**
 * The one range that a Range header asks for, both ends counted; undefined for the whole object,
 * which is also what S3 answers to several ranges and to what it can't read. Throws InvalidRange
 * for a range beyond the end.
 */
export const parseRange = (header: string | undefined, size: number): ByteRange | undefined => {
  const parts = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '')
  if (!parts) return undefined
  const [, first = '', last = ''] = parts
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    if (length === 0) throw unsatisfiable(size)
    return { start: size - length, end: size - 1 }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) throw unsatisfiable(size)
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

const unsatisfiable = (size: number): S3Error =>
  new S3Error('InvalidRange', 'The requested range is not satisfiable.', {
    headers: { 'content-range': `bytes */${size}` },
  })
