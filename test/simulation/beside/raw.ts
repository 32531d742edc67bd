import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import fc from 'fast-check'

// Requests that `lib/data` wouldn't make: any condition and any update of the grammar, sound or not.

export type Raw = {
  command: 'PutItemCommand' | 'UpdateItemCommand' | 'DeleteItemCommand'
  sk: string
  item: Record<string, AttributeValue>
  condition: string | undefined
  update: string
  names: Record<string, string>
  values: Record<string, AttributeValue>
  /**
   * A label that is used is not defined, or one that is defined is not used. Of a put and a delete
   * dynoxide notices the first only where its evaluation comes to it, so only updates have it.
   */
  flaw: 'none' | 'undefined' | 'unused'
  returns: 'NONE' | 'ALL_OLD'
}

const LABELS = ['#a', '#b', 'pk']
const VALUES: Record<string, AttributeValue> = {
  ':s': { S: 'OPEN' },
  ':o': { S: 'OP' },
  ':n': { N: '1.0' },
  ':t': { SS: ['a', 'OPEN'] },
  ':l': { L: [{ S: 'OPEN' }, { N: '1' }] },
  ':x': { N: '1e2' },
  ':y': { N: '20.50' },
  ':z': { N: '-3' },
}

const name = fc.constantFrom(...LABELS)
const ordered = fc.constantFrom(':s', ':o', ':n', ':x', ':y', ':z')
const value = fc.constantFrom(...Object.keys(VALUES))

const leaf: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(name, fc.constantFrom('=', '<>'), value).map(parts => parts.join(' ')),
  fc.tuple(name, fc.constantFrom('<', '<=', '>', '>='), ordered).map(parts => parts.join(' ')),
  fc.tuple(ordered, fc.constantFrom('=', '<', '>='), name).map(parts => parts.join('')),
  fc.constantFrom('#a = #b', '#a<#b', '#a IN (#b, :s)', 'contains(#a, #b)'),
  fc.tuple(name, value, value).map(([a, b, c]) => `${a} IN (${b},${c})`),
  fc.tuple(name, ordered, ordered).map(([a, b, c]) => `${a} BETWEEN ${b} AND ${c}`),
  {
    weight: 4,
    arbitrary: fc
      .tuple(name, fc.oneof(value, fc.constant(':o')))
      .map(([a, b]) => `contains (${a}, ${b})`),
  },
  fc.tuple(name, fc.constantFrom(':s', ':o', ':n')).map(([a, b]) => `begins_with(${a}, ${b})`),
  name.map(a => `attribute_exists(${a})`),
  name.map(a => `attribute_not_exists( ${a} )`),
)

const { condition } = fc.letrec<{ condition: string }>(tie => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 3, arbitrary: leaf },
    tie('condition').map(inner => `(${inner})`),
    tie('condition').map(inner => `NOT ${inner}`),
    fc.tuple(tie('condition'), tie('condition')).map(parts => parts.join(' AND ')),
    fc.tuple(tie('condition'), tie('condition')).map(parts => parts.join(' or ')),
  ),
}))

const label = fc.constantFrom('#a', '#b')
const section = fc.oneof(
  fc
    .array(
      fc.tuple(label, value).map(([a, b]) => `${a} = ${b}`),
      { minLength: 1, maxLength: 2 },
    )
    .map(parts => `SET ${parts.join(', ')}`),
  label.map(a => `remove ${a}`),
  fc.tuple(label, value).map(([a, b]) => `ADD ${a} ${b}`),
  fc.tuple(label, value).map(([a, b]) => `DELETE ${a} ${b}`),
)
const update = fc.array(section, { minLength: 1, maxLength: 2 }).map(parts => parts.join(' '))

const attribute = fc.constantFrom('one', 'two', 'three')
const item = fc.dictionary(attribute, fc.constantFrom(...Object.values(VALUES)))

export const raw: fc.Arbitrary<Raw> = fc.record({
  command: fc.constantFrom(
    'PutItemCommand' as const,
    'UpdateItemCommand' as const,
    'UpdateItemCommand' as const,
    'DeleteItemCommand' as const,
  ),
  sk: fc.constantFrom('1', '2'),
  item,
  condition: fc.option(condition, { nil: undefined }),
  update,
  names: fc.record({ '#a': attribute, '#b': attribute }),
  values: fc.constant(VALUES),
  flaw: fc.oneof(
    { weight: 12, arbitrary: fc.constant('none' as const) },
    fc.constantFrom('undefined' as const, 'unused' as const),
  ),
  returns: fc.constantFrom('NONE' as const, 'ALL_OLD' as const),
})

/** The input of a raw command on one partition. */
export const inputOf = (each: Raw, pk: string): object => {
  const isUpdate = each.command === 'UpdateItemCommand'
  const key = { pk: { S: pk }, sk: { S: each.sk } }
  const text = `${each.condition ?? ''} ${isUpdate ? each.update : ''}`
  const used = (labels: object) =>
    Object.fromEntries(
      Object.entries(labels).filter(([each]) => new RegExp(`${each}\\b`).test(text)),
    )
  const [names, values] = [used(each.names), used(each.values)]
  if (each.flaw === 'undefined' && isUpdate) delete names[Object.keys(names)[0] ?? '']
  if (each.flaw === 'unused') values[':unused'] = { S: '' }
  return {
    TableName: 'espalier',
    ...(each.command === 'PutItemCommand' ? { Item: { ...each.item, ...key } } : { Key: key }),
    ...(isUpdate ? { UpdateExpression: each.update } : {}),
    ConditionExpression: each.condition,
    ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
    ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
    ReturnValues: isUpdate ? each.returns.replace('OLD', 'NEW') : each.returns,
    ReturnValuesOnConditionCheckFailure: each.returns,
    ReturnConsumedCapacity: 'TOTAL',
  }
}
