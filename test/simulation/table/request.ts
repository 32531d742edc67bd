import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { INDEXES, PRIMARY_KEY } from '../../../lib/data/definition.ts'
import { type Bindings, bind, type Labels } from './bindings.ts'
import { type Condition, checkOperands, parseCondition } from './condition.ts'
import { invalid, unsupported } from './errors.ts'
import type { Item } from './value.ts'

/** DynamoDB's longest keys, in bytes. */
const MAX_HASH_BYTES = 2_048
const MAX_RANGE_BYTES = 1_024

const unfitKeys = new WeakSet<Error>()
const emptyKeys = new WeakSet<Error>()

/** A key that doesn't fit: what is wrong with one of a transaction's writes, and not its request. */
export const isUnfitKey = (error: Error): boolean => unfitKeys.has(error)
/** An empty key makes the whole request invalid. */
export const isEmptyKey = (error: Error): boolean => emptyKeys.has(error)

const unfit = (message: string): Error => {
  const error = invalid(message)
  unfitKeys.add(error)
  return error
}

const empty = (name: string): Error => {
  const error = invalid(`A key attribute cannot contain an empty string value. Key: ${name}`)
  emptyKeys.add(error)
  return error
}

/** The key of a request, and nothing beside it. */
export const keyOf = (key: Item | undefined): { pk: string; sk: string } => {
  if (!key || Object.keys(key).length !== 2) throw mismatch()
  return keyWithin(key)
}

export const keyWithin = (item: Item): { pk: string; sk: string } => {
  const { [PRIMARY_KEY.hashKey]: hash, [PRIMARY_KEY.rangeKey]: range } = item
  if (hash?.S === undefined || range?.S === undefined) throw mismatch()
  return {
    pk: keyText(hash.S, PRIMARY_KEY.hashKey, MAX_HASH_BYTES),
    sk: keyText(range.S, PRIMARY_KEY.rangeKey, MAX_RANGE_BYTES),
  }
}

/** What an item has of an index's keys must be fit for them; of those that were there, nobody asks. */
export const checkIndexKeys = (item: Item, before?: Item): void => {
  for (const { hashKey, rangeKey } of Object.values(INDEXES)) {
    checkIndexKey(hashKey, item[hashKey], before?.[hashKey], MAX_HASH_BYTES)
    checkIndexKey(rangeKey, item[rangeKey], before?.[rangeKey], MAX_RANGE_BYTES)
  }
}

const checkIndexKey = (
  name: string,
  value: AttributeValue | undefined,
  before: AttributeValue | undefined,
  maxBytes: number,
): void => {
  if (value === undefined || value === before) return
  if (value.S === undefined) throw unfit(`Type mismatch for Index Key ${name}`)
  keyText(value.S, name, maxBytes)
}

const keyText = (text: string, name: string, maxBytes: number): string => {
  if (text === '') throw empty(name)
  if (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes)
    throw unfit(`The key attribute ${name} is longer than ${maxBytes} bytes`)
  return text
}

const mismatch = () => unfit('The provided key element does not match the schema')

/** Throws where a request asks for what this table doesn't do. */
export const checkParameters = (
  command: string,
  input: object,
  known: ReadonlySet<string>,
): void => {
  for (const name in input)
    if (!known.has(name) && input[name as never] !== undefined)
      throw unsupported(`${name} of ${command}`)
}

/** Each text is parsed once. */
export const cached = <T>(parse: (text: string) => T): ((text: string) => T) => {
  const results = new Map<string, T>()
  return text => {
    const known = results.get(text)
    if (known) return known
    const result = parse(text)
    results.set(text, result)
    return result
  }
}

const conditionOf = cached(parseCondition)

export type Conditional = {
  ConditionExpression?: string | undefined
  ExpressionAttributeNames?: Record<string, string> | undefined
  ExpressionAttributeValues?: Record<string, AttributeValue> | undefined
}

/** A request's condition and what its labels stand for, those of another expression too. */
export const readCondition = (
  input: Conditional,
  other?: Labels,
): { condition: Condition | undefined; bindings: Bindings } => {
  const condition =
    input.ConditionExpression === undefined ? undefined : conditionOf(input.ConditionExpression)
  const used = [condition, other].flatMap(labels => labels ?? [])
  const bindings = bind(input, used)
  if (condition) checkOperands(condition.test, bindings)
  return { condition, bindings }
}
