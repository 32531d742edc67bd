import { is, type Where } from './expression.ts'

/** The version of what was written before there were any. */
export const FIRST_VERSION = 1

/** The condition that an item is still of this version. */
export const atVersion = (version: number): Where =>
  version === FIRST_VERSION ? { any: [{ version }, { version: is.absent }] } : { version }
