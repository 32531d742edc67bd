import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { PRIMARY_KEY } from '../../../lib/data/definition.ts'
import type { Bindings } from './bindings.ts'
import type { Condition } from './condition.ts'
import { conditionFailed, invalid, unsupported } from './errors.ts'
import { passes } from './passes.ts'
import {
  type Conditional,
  cached,
  checkIndexKeys,
  checkParameters,
  keyOf,
  keyWithin,
  readCondition,
} from './request.ts'
import type { Row, View } from './rows.ts'
import { checkUpdate, parseUpdate, type Update, updated } from './update.ts'
import { attributeBytes, type Item, itemBytes, keptItem } from './value.ts'

/** An item's limit, names included: 400 KB. */
const MAX_ITEM_BYTES = 409_600

/** One write, or the check of a condition, as one of a transaction and by itself has it. */
export type WriteInput = Conditional & {
  TableName?: string | undefined
  Item?: Record<string, AttributeValue> | undefined
  Key?: Record<string, AttributeValue> | undefined
  UpdateExpression?: string | undefined
  ReturnValues?: string | undefined
  ReturnValuesOnConditionCheckFailure?: string | undefined
}
export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck'

/** What a write makes of the row at its key; `run` throws where its condition fails. */
export type Plan = { pk: string; sk: string; run: (view: View) => Change }
export type Change = { before: Row | undefined; after: Row | undefined }

const CONDITIONAL = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValues',
  'ReturnValuesOnConditionCheckFailure',
  'ReturnConsumedCapacity',
]
const PARAMETERS: Record<WriteKind, ReadonlySet<string>> = {
  Put: new Set(['Item', ...CONDITIONAL]),
  Update: new Set(['Key', 'UpdateExpression', ...CONDITIONAL]),
  Delete: new Set(['Key', ...CONDITIONAL]),
  ConditionCheck: new Set(['Key', ...CONDITIONAL]),
}

const updateOf = cached(parseUpdate)

/**
 * Reads a write: what is wrong with it whatever the table holds throws here, the rest in `run`.
 * `isAlone` is false for one of a transaction, where DynamoDB measures an update by another rule.
 */
export const planWrite = (kind: WriteKind, input: WriteInput, isAlone: boolean): Plan => {
  checkParameters(kind, input, PARAMETERS[kind])
  switch (kind) {
    case 'Put':
      return planPut(input)
    case 'Update':
      return planUpdate(input, isAlone)
    case 'Delete': {
      const { condition, bindings } = readCondition(input)
      return planned(keyOf(input.Key), input, condition, bindings, () => undefined)
    }
    case 'ConditionCheck': {
      if (input.ConditionExpression === undefined)
        throw invalid('ConditionExpression must not be null')
      const { condition, bindings } = readCondition(input)
      return planned(keyOf(input.Key), input, condition, bindings, before => before)
    }
    default:
      return kind satisfies never
  }
}

const planPut = (input: WriteInput): Plan => {
  const { condition, bindings } = readCondition(input)
  const item = keptItem(input.Item ?? {})
  const bytes = itemBytes(item)
  if (bytes > MAX_ITEM_BYTES) throw invalid('Item size has exceeded the maximum allowed size')
  const key = keyWithin(item)
  checkIndexKeys(item)
  return planned(key, input, condition, bindings, () => ({ ...key, item, bytes }))
}

const KEYS: string[] = Object.values(PRIMARY_KEY)

const planUpdate = (input: WriteInput, isAlone: boolean): Plan => {
  if (input.UpdateExpression === undefined)
    throw unsupported('an update without an UpdateExpression')
  const update = updateOf(input.UpdateExpression)
  const { condition, bindings } = readCondition(input, update)
  checkUpdate(update, KEYS, bindings)
  const key = keyOf(input.Key)
  return planned(key, input, condition, bindings, before => {
    const old = before?.item ?? keptItem(input.Key ?? {})
    const item = updated(update, old, bindings)
    checkIndexKeys(item, before?.item)
    const bytes = itemBytes(item)
    const measured = isAlone ? Math.max(bytes, bytes + updateBytes(update, key)) : bytes
    if (measured > MAX_ITEM_BYTES)
      throw invalid('Item size to update has exceeded the maximum allowed size')
    return { ...key, item, bytes }
  })
}

/**
 * What an update's result is measured above its own bytes: each action costs something, the key
 * nothing. Documented nowhere; measured in eu-west-2 by dynoxide's authors.
 */
const updateBytes = ({ actions }: Update, { pk, sk }: { pk: string; sk: string }): number => {
  const clearing = actions.filter(({ verb }) => verb === 'REMOVE' || verb === 'DELETE').length
  const key = attributeBytes('pk', { S: pk }) + attributeBytes('sk', { S: sk })
  return 3 + 19 * (actions.length - clearing) + 2 * clearing - key
}

const planned = (
  key: { pk: string; sk: string },
  { ReturnValuesOnConditionCheckFailure: wish }: WriteInput,
  condition: Condition | undefined,
  bindings: Bindings,
  next: (before: Row | undefined) => Row | undefined,
): Plan => ({
  ...key,
  run: view => {
    const before = view.get(key.pk, key.sk)
    if (condition && !passes(condition.test, before?.item, bindings))
      throw conditionFailed(wish === 'ALL_OLD' && before ? { ...before.item } : undefined)
    return { before, after: next(before) }
  },
})

const RETURNS: Record<Exclude<WriteKind, 'ConditionCheck'>, string[]> = {
  Put: ['NONE', 'ALL_OLD'],
  Update: ['NONE', 'ALL_NEW'],
  Delete: ['NONE', 'ALL_OLD'],
}

/** What an answer says of the item, where it was asked to. */
export const attributesOf = (
  kind: Exclude<WriteKind, 'ConditionCheck'>,
  { ReturnValues: wish = 'NONE' }: WriteInput,
): ((change: Change) => { Attributes?: Item }) => {
  if (!RETURNS[kind].includes(wish)) {
    if (kind === 'Update') throw unsupported(`ReturnValues ${wish}`)
    throw invalid('ReturnValues can only be ALL_OLD or NONE')
  }
  return ({ before, after }) => {
    const row = wish === 'ALL_OLD' ? before : wish === 'ALL_NEW' ? after : undefined
    return row ? { Attributes: { ...row.item } } : {}
  }
}
