import { AppError } from '../core/errors.ts'

/**
 * Tags that a deploy may add. Every resource gets all of them, and an object of S3, such as the code
 * of a function, has 10 at most: two are ours and two are SST's.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html
 */
export const MAX_ADDED_TAGS = 6
/** What most services take: https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html */
export const MAX_KEY_CHARS = 128
export const MAX_VALUE_CHARS = 256
const CHARACTERS = /^[\p{L}\p{N} _.:/=+\-@]+$/u

/**
 * The tags of everything in a deployment: its app and stage, and what ESPALIER_TAGS adds as
 * `key=value,key=value`. INVALID_DEFINITION says which of these is no tag.
 */
export const tagsOf = (
  app: { name: string; stage: string },
  environment: Record<string, string | undefined>,
): Record<string, string> => {
  const own = { app: app.name, stage: app.stage }
  const added = (environment.ESPALIER_TAGS ?? '')
    .split(',')
    .filter(entry => entry.trim() !== '')
    .map(readTag)
  const keys = [...Object.keys(own), ...added.map(([key]) => key)].map(key => key.toLowerCase())
  // To IAM, keys that differ by their case alone are one.
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index)
  if (repeated !== undefined)
    throw refusal(`has "${repeated}" twice, or again: "app" and "stage" are there already`)
  if (added.length > MAX_ADDED_TAGS)
    throw refusal(`has ${added.length} tags; a deployment takes ${MAX_ADDED_TAGS}`)
  return { ...own, ...Object.fromEntries(added) }
}

const readTag = (entry: string): [string, string] => {
  const at = entry.indexOf('=')
  const [key, value] = [entry.slice(0, Math.max(at, 0)).trim(), entry.slice(at + 1).trim()]
  const isTag =
    CHARACTERS.test(key) &&
    CHARACTERS.test(value) &&
    key.length <= MAX_KEY_CHARS &&
    value.length <= MAX_VALUE_CHARS &&
    !/^(?:aws|sst):/i.test(key)
  if (isTag) return [key, value]
  throw refusal(
    `has "${entry.trim()}", which is no tag: a key of up to ${MAX_KEY_CHARS} characters that doesn't begin with "aws:" or "sst:", "=" and a value of up to ${MAX_VALUE_CHARS}; letters, digits, spaces and _ . : / = + - @`,
  )
}

const refusal = (what: string) =>
  new AppError(
    'INVALID_DEFINITION',
    `ESPALIER_TAGS ${what}. Write pairs, separated by commas: team=research,cost-center=42`,
  )
