import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { AppError } from '../core/errors.ts'
import { is, type Where } from './expression.ts'
import type { Key } from './item.ts'
import { ROW_STEPS, type RowStep } from './row-steps.ts'

/** The attribute that says of which version a row is; one without it is of the first. */
export const ROW_VERSION = 'rowVersion'
const FIRST = 1
/** When whoever met a row from the future tries again: a deploy moves all functions within that. */
const RETRY_SECONDS = 30

/** Leading keys under which rows of several kinds lie: there the sort key's beginning tells them. */
const SHARED = ['task', 'agent', 'group', 'slots', 'notes']

/** What kind of row a key is of: `call`, `settings`, `task/history`, `slots/waiting`. */
export const kindOfRow = ({ pk, sk }: Key): string => {
  const [head = ''] = pk.split(/[_#]/, 1)
  return SHARED.includes(head) ? `${head}/${/^[a-z-]+(?:#!)?/.exec(sk)?.[0] ?? ''}` : head
}

/** The version in which this code writes rows of that key. */
const versionAt = (key: Key): number => FIRST + stepsOf(key).length

const stepsOf = (key: Key) => ROW_STEPS[kindOfRow(key)] ?? []

/** What marks a row that is written whole; those of a first version bear no mark. */
export const versionMark = (key: Key): Record<string, number> => {
  const version = versionAt(key)
  return version === FIRST ? {} : { [ROW_VERSION]: version }
}

/**
 * A condition with the one that the row is of the version that this code knows; a row that isn't
 * there is of every version.
 */
export const atKnownVersion = (key: Key, where: Where): Where => {
  const version = versionAt(key)
  if (version === FIRST) return { ...where, [ROW_VERSION]: is.absent }
  return {
    any: [{ pk: is.absent }, { [ROW_VERSION]: version }].map(alternative => ({
      ...alternative,
      any: [where],
    })),
  }
}

/** The condition under which a row may be replaced: it is of no later version than this code's. */
export const notNewer = (key: Key): Where => {
  const version = versionAt(key)
  return { [ROW_VERSION]: version === FIRST ? is.absent : is.absentOrAtMost(version) }
}

type Item = Record<string, AttributeValue>

const keyOf = (item: Item): Key => ({ pk: item.pk?.S ?? '', sk: item.sk?.S ?? '' })

const versionOf = (item: Item): number => Number(item[ROW_VERSION]?.N ?? FIRST)

/** Whether a row is older than this code; VERSION_TOO_NEW where it is of a later version. */
export const isOld = (item: Item): boolean => {
  const known = versionAt(keyOf(item))
  const version = versionOf(item)
  if (version > known)
    throw new AppError(
      'VERSION_TOO_NEW',
      `A row (${kindOfRow(keyOf(item))}) is of version ${version}, and this function knows ${known}: a deploy is under way, or a later one was taken back. Try again shortly.`,
      { details: { retry_after_seconds: RETRY_SECONDS } },
    )
  return version < known
}

/** What the steps that an old row has before it read of it, or of what the earlier ones gave. */
export const pendingTakes = (item: Item): string[] => pendingOf(item).flatMap(({ takes }) => takes)

/** A row's attributes as the latest version has them, whatever version it was written in. */
export const movedOn = (item: Item): Record<string, unknown> => {
  const row = unmarshall(item)
  return isOld(item) ? pendingOf(item).reduce(takeStep, row) : row
}

const pendingOf = (item: Item) => stepsOf(keyOf(item)).slice(versionOf(item) - FIRST)

const takeStep = (row: Record<string, unknown>, { takes, gives }: RowStep) => {
  const entries = Object.entries(row)
  const taken = entries.filter(([name]) => takes.includes(name))
  const rest = entries.filter(([name]) => !takes.includes(name))
  return { ...Object.fromEntries(rest), ...gives(Object.fromEntries(taken)) }
}
