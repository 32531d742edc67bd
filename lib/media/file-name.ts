import { cut } from '../core/clip.ts'
import { MAX_FILENAME_CHARS } from './limits.ts'

const EXTENSION = /\.[a-z0-9]{1,8}$/i
/** What no name shows, or what shows it in another order than it has. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** A name without folders and unseen characters, as long as file systems take; it may be empty. */
export const cleanFileName = (name: string): string => {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  const clean = last.replaceAll(UNSEEN, '').trim()
  if (clean.length <= MAX_FILENAME_CHARS) return clean
  const [extension = ''] = EXTENSION.exec(clean) ?? []
  return cut(clean, MAX_FILENAME_CHARS - extension.length) + extension
}

/** A name without what says of which type it is. */
export const stemOf = (name: string): string => name.replace(EXTENSION, '')
