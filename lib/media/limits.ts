/** An asset that an agent writes, in bytes. */
export const MAX_AUTHORED_BYTES = 1024 * 1024
/** A file name's length, in characters, as file systems have it. */
export const MAX_FILENAME_CHARS = 255

/** What an agent tells of a file that it made, in characters: it is kept in the file's row. */
export const MAX_ORIGIN_CHARS = 4_000

/** What an agent may author, with the extension that a file of it gets. */
export const AUTHORED_TYPES = {
  'text/markdown': '.md',
  'text/plain': '.txt',
  'text/csv': '.csv',
  'application/json': '.json',
  'application/xml': '.xml',
  'application/yaml': '.yaml',
  'text/html': '.html',
} as const
export type AuthoredType = keyof typeof AUTHORED_TYPES
