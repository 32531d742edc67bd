import type { AttributeValue, QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { INDEXES, PRIMARY_KEY } from '../../../lib/data/definition.ts'
import { bind } from './bindings.ts'
import { capacityOf } from './capacity.ts'
import { invalid } from './errors.ts'
import { parseKeyCondition, type RangeTest } from './key-condition.ts'
import { unitsOf } from './read.ts'
import { cached, checkParameters } from './request.ts'
import { comparePlaces, type Entry, firstIndex, keysOf, type Order, type View } from './rows.ts'
import { compareText, type Item } from './value.ts'

/** DynamoDB's limit of one page, in bytes. */
const MAX_PAGE_BYTES = 1_024 * 1_024

const PARAMETERS = new Set([
  'TableName',
  'IndexName',
  'ConsistentRead',
  'KeyConditionExpression',
  'ScanIndexForward',
  'Limit',
  'ExclusiveStartKey',
  'ReturnConsumedCapacity',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
])

const keyConditionOf = cached(parseKeyCondition)

export const query = (view: View, input: QueryCommandInput): object => {
  checkParameters('Query', input, PARAMETERS)
  const order = orderOf(input)
  const { hash, test } = readKeyCondition(input, order)
  if (input.Limit !== undefined && input.Limit < 1) throw invalid('Limit must be 1 or more')
  const start = input.ExclusiveStartKey && placeOf(input.ExclusiveStartKey, order)

  const entries = view.entries(order, hash)
  const isForward = input.ScanIndexForward !== false
  let low = firstIndex(entries, ({ range }) => !isBelow(test, range))
  let high = firstIndex(entries, ({ range }) => isAbove(test, range))
  if (start && isForward)
    low = Math.max(
      low,
      firstIndex(entries, entry => comparePlaces(entry, start) > 0),
    )
  if (start && !isForward)
    high = Math.min(
      high,
      firstIndex(entries, entry => comparePlaces(entry, start) >= 0),
    )

  const items: Item[] = []
  const limit = input.Limit ?? Number.POSITIVE_INFINITY
  let bytes = 0
  let last: Entry | undefined
  const at = (nth: number) => entries[isForward ? low + nth : high - 1 - nth] as Entry
  for (let nth = 0; nth < high - low; nth++) {
    const entry = at(nth)
    if (items.length === limit || (nth > 0 && bytes + entry.row.bytes > MAX_PAGE_BYTES)) {
      last = at(nth - 1)
      break
    }
    bytes += entry.row.bytes
    items.push({ ...entry.row.item })
  }
  // A page that its limit ended may be the last one: DynamoDB hasn't looked any further.
  if (!last && items.length === limit) last = at(items.length - 1)
  return {
    Items: items,
    Count: items.length,
    ScannedCount: items.length,
    ...(last ? { LastEvaluatedKey: keyAt(last, order) } : {}),
    ...capacityOf(input, input.TableName, () => unitsOf(bytes, input.ConsistentRead)),
  }
}

const orderOf = ({ IndexName, ConsistentRead }: QueryCommandInput): Order => {
  if (IndexName === undefined) return 'table'
  if (!Object.hasOwn(INDEXES, IndexName))
    throw invalid(`The table does not have the specified index: ${IndexName}`)
  if (ConsistentRead)
    throw invalid('Consistent reads are not supported on global secondary indexes')
  return IndexName as Order
}

type Bound = { sign: RangeTest['sign']; values: string[] } | undefined

const readKeyCondition = (
  input: QueryCommandInput,
  order: Order,
): { hash: string; test: Bound } => {
  if (input.KeyConditionExpression === undefined)
    throw invalid('KeyConditionExpression must be specified')
  const parsed = keyConditionOf(input.KeyConditionExpression)
  const { nameAt, valueAt } = bind(input, [parsed])
  const { hashKey, rangeKey } = keysOf(order)
  const tests = parsed.tests.map(test => ({ ...test, name: nameAt(test.name) }))
  const hashTest = tests.find(({ name, sign }) => name === hashKey && sign === '=')
  const others = tests.filter(test => test !== hashTest)
  if (!hashTest || others.some(({ name }) => name !== rangeKey))
    throw invalid(`Query condition missed key schema element: ${hashKey}`)
  if (others.length > 1)
    throw invalid('KeyConditionExpressions must only contain one condition per key')
  const textOf = (label: string): string => {
    const { S: text } = valueAt(label)
    if (text === undefined)
      throw invalid('Condition parameter type does not match schema type of a key')
    if (text === '') throw invalid('A key attribute cannot contain an empty string value')
    return text
  }
  const [hash = ''] = hashTest.values.map(textOf)
  const [range] = others
  const test = range && { sign: range.sign, values: range.values.map(textOf) }
  if (test?.sign === 'between' && compareText(test.values[0] ?? '', test.values[1] ?? '') > 0)
    throw invalid('The BETWEEN operator requires an upper bound that is not below the lower')
  return { hash, test }
}

/** What passes a test lies together: before it what is below, after it what is above. */
const isBelow = (test: Bound, range: string): boolean => {
  if (!test || test.sign === '<' || test.sign === '<=') return false
  const order = compareText(range, test.values[0] ?? '')
  return test.sign === '>' ? order <= 0 : order < 0
}

const isAbove = (test: Bound, range: string): boolean => {
  if (!test) return false
  const [first = '', second = ''] = test.values
  switch (test.sign) {
    case '>':
    case '>=':
      return false
    case '<':
      return compareText(range, first) >= 0
    case '=':
    case '<=':
      return compareText(range, first) > 0
    case 'between':
      return compareText(range, second) > 0
    case 'begins_with':
      return compareText(range, first) > 0 && !range.startsWith(first)
    default:
      return test.sign satisfies never
  }
}

const namesOf = (order: Order): string[] => {
  const { hashKey, rangeKey } = keysOf(order)
  return [...new Set([PRIMARY_KEY.hashKey, PRIMARY_KEY.rangeKey, hashKey, rangeKey])]
}

const keyAt = ({ row }: Entry, order: Order): Item =>
  Object.fromEntries(namesOf(order).map(name => [name, row.item[name] as AttributeValue]))

const placeOf = (key: Item, order: Order) => {
  const names = namesOf(order)
  if (Object.keys(key).length !== names.length || names.some(name => key[name]?.S === undefined))
    throw invalid('The provided starting key is invalid')
  const { rangeKey } = keysOf(order)
  return { range: key[rangeKey]?.S ?? '', pk: key.pk?.S ?? '', sk: key.sk?.S ?? '' }
}
