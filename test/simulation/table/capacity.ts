import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb'
import { INDEXES } from '../../../lib/data/definition.ts'
import { unsupported } from './errors.ts'
import type { Row } from './rows.ts'
import { equalItems } from './value.ts'

const WRITE_UNIT_BYTES = 1_024
const READ_UNIT_BYTES = 4_096
/** What a transaction costs more, on the table and not on its indexes. */
export const TRANSACTION_FACTOR = 2

/** Any number of bytes is at least one unit. */
const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / WRITE_UNIT_BYTES))

/** Strongly consistent; otherwise half of it. */
export const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES))

/**
 * What AWS bills for a write: the larger of the two states, and each index whose entry changes;
 * a place that moves is a delete and an insert ("Write capacity unit consumption for secondary
 * indexes").
 */
export const unitsOfWrite = (before: Row | undefined, after: Row | undefined): number =>
  writeUnits(Math.max(before?.bytes ?? 0, after?.bytes ?? 0))

export const unitsOfIndexes = (before: Row | undefined, after: Row | undefined): number => {
  if (before === after) return 0
  let units = 0
  let isSame: boolean | undefined
  for (const { hashKey, rangeKey } of Object.values(INDEXES)) {
    const isBefore = before?.item[hashKey] && before.item[rangeKey]
    const isAfter = after?.item[hashKey] && after.item[rangeKey]
    if (isBefore && isAfter) {
      if (
        before.item[hashKey]?.S !== after.item[hashKey]?.S ||
        before.item[rangeKey]?.S !== after.item[rangeKey]?.S
      ) {
        units += writeUnits(before.bytes) + writeUnits(after.bytes)
        continue
      }
      isSame ??= equalItems(before.item, after.item)
      if (!isSame) units += writeUnits(Math.max(before.bytes, after.bytes))
    } else if (isBefore) units += writeUnits(before.bytes)
    else if (isAfter) units += writeUnits(after.bytes)
  }
  return units
}

type Asked = { ReturnConsumedCapacity?: string | undefined }

/** What an answer says of its units, where it was asked to. */
export const capacityOf = (
  { ReturnConsumedCapacity: wish }: Asked,
  TableName: string | undefined,
  units: () => number,
): { ConsumedCapacity?: ConsumedCapacity } => {
  if (!isAsked(wish)) return {}
  return { ConsumedCapacity: { TableName, CapacityUnits: units() } }
}

export const isAsked = (wish: string | undefined): boolean => {
  if (wish === undefined || wish === 'NONE') return false
  if (wish !== 'TOTAL') throw unsupported(`the consumed capacity of ${wish}`)
  return true
}
