import type { AttributeValue } from '@aws-sdk/client-dynamodb'

/** A request at the edge of what DynamoDB does: on which side it lies, and what it is. */
export type Edge = [name: string, outcome: 'done' | 'refused', command: string, input: object]

const TableName = 'espalier'
const key = (pk: string, sk = 'row') => ({ pk: { S: pk }, sk: { S: sk } })
const item = (more: Record<string, AttributeValue>, pk = 'edge') => ({ ...key(pk), ...more })
const put = (more: Record<string, AttributeValue>) => ({ TableName, Item: item(more) })
const bad = (value: object) => value as AttributeValue

const update = (UpdateExpression: string, values: Record<string, AttributeValue>, names = {}) => ({
  TableName,
  Key: key('edge'),
  UpdateExpression,
  ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
  ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
})

const query = (more: object) => ({
  TableName,
  KeyConditionExpression: 'pk = :pk',
  ExpressionAttributeValues: { ':pk': { S: 'edge' } },
  ...more,
})

/** Maps in each other, and a text within. */
const deep = (levels: number): AttributeValue =>
  levels === 0 ? { S: 'x' } : { M: { in: deep(levels - 1) } }

const numbered = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => of(index))

const choices = (count: number) => ({
  ...put({}),
  ConditionExpression: `pk IN (${numbered(count, index => `:v${index}`).join(', ')})`,
  ExpressionAttributeValues: Object.fromEntries(
    numbered(count, index => [`:v${index}`, { S: index === 0 ? 'edge' : `${index}` }]),
  ),
})

/** A condition of so many bytes. */
const condition = (bytes: number) => ({
  ...put({}),
  ConditionExpression: 'attribute_exists(pk)'.padEnd(bytes),
})

/** An item of so many bytes in all. */
const sized = (bytes: number) => put({ fill: { S: 'f'.repeat(bytes - 'pkedgeskrowfill'.length) } })

const writes = (count: number) => ({
  TransactItems: numbered(count, index => ({
    Put: { TableName, Item: key(`edge#${index}`) },
  })),
})

const batch = (keys: object[]) => ({ RequestItems: { [TableName]: { Keys: keys } } })

export const edges: Edge[] = [
  ['an item', 'done', 'PutItemCommand', put({ text: { S: '' }, none: { NULL: true } })],
  ['an empty hash key', 'refused', 'GetItemCommand', { TableName, Key: key('') }],
  ['an empty range key', 'refused', 'GetItemCommand', { TableName, Key: key('edge', '') }],
  ['half a key', 'refused', 'GetItemCommand', { TableName, Key: { pk: { S: 'edge' } } }],
  ['a key and more', 'refused', 'DeleteItemCommand', { TableName, Key: item({ a: { S: 'b' } }) }],
  ['a key of another type', 'refused', 'PutItemCommand', put({ sk: { N: '1' } })],
  ['an item without a key', 'refused', 'PutItemCommand', { TableName, Item: { a: { S: 'b' } } }],
  ['the longest hash key', 'done', 'GetItemCommand', { TableName, Key: key('k'.repeat(2_048)) }],
  ['a longer hash key', 'refused', 'GetItemCommand', { TableName, Key: key('k'.repeat(2_049)) }],
  ['the longest range key', 'done', 'PutItemCommand', put({ sk: { S: 'é'.repeat(512) } })],
  ['a longer range key', 'refused', 'PutItemCommand', put({ sk: { S: 'é'.repeat(513) } })],
  ['an index key of another type', 'refused', 'PutItemCommand', put({ gsi1pk: { N: '1' } })],
  ['an empty index key', 'refused', 'PutItemCommand', put({ gsi3sk: { S: '' } })],
  ['half an index key', 'done', 'PutItemCommand', put({ gsi3sk: { S: 'x' } })],
  ['the largest item', 'done', 'PutItemCommand', sized(409_600)],
  ['a larger item', 'refused', 'PutItemCommand', sized(409_601)],
  ['the deepest value', 'done', 'PutItemCommand', put({ deep: deep(31) })],
  ['a deeper value', 'refused', 'PutItemCommand', put({ deep: deep(32) })],
  ['an empty set', 'refused', 'PutItemCommand', put({ set: { SS: [] } })],
  ['a set with a member twice', 'refused', 'PutItemCommand', put({ set: { SS: ['a', 'a'] } })],
  ['a number twice', 'refused', 'PutItemCommand', put({ set: { NS: ['1', '1.0'] } })],
  ['a value of no type', 'refused', 'PutItemCommand', put({ none: bad({}) })],
  ['a null that is not', 'refused', 'PutItemCommand', put({ none: bad({ NULL: false }) })],
  ['what is no number', 'refused', 'PutItemCommand', put({ n: { N: 'one' } })],
  ['all digits', 'done', 'PutItemCommand', put({ n: { N: `-${'9'.repeat(38)}` } })],
  ['a digit too many', 'refused', 'PutItemCommand', put({ n: { N: '9'.repeat(39) } })],
  ['zeros beyond all digits', 'done', 'PutItemCommand', put({ n: { N: `1${'0'.repeat(60)}.0` } })],
  ['the largest power', 'done', 'PutItemCommand', put({ n: { N: '9.9E125' } })],
  ['a larger power', 'refused', 'PutItemCommand', put({ n: { N: '1E126' } })],
  ['the smallest power', 'done', 'PutItemCommand', put({ n: { N: '1E-130' } })],
  ['a smaller power', 'refused', 'PutItemCommand', put({ n: { N: '1E-131' } })],

  ['the longest expression', 'done', 'PutItemCommand', condition(4_096)],
  ['a longer expression', 'refused', 'PutItemCommand', condition(4_097)],
  ['an empty expression', 'refused', 'PutItemCommand', { ...put({}), ConditionExpression: '' }],
  ['as many choices as there may be', 'done', 'PutItemCommand', choices(100)],

  ['a changed key', 'refused', 'UpdateItemCommand', update('SET sk = :v', { ':v': { S: 'x' } })],
  ['a removed key', 'refused', 'UpdateItemCommand', update('REMOVE pk', {})],
  ['an update of nothing', 'refused', 'UpdateItemCommand', update('', {})],
  [
    'an attribute changed twice',
    'refused',
    'UpdateItemCommand',
    update('SET #a = :v REMOVE #b', { ':v': { S: 'x' } }, { '#a': 'a', '#b': 'a' }),
  ],
  [
    'a sum of text',
    'refused',
    'UpdateItemCommand',
    update('ADD #a :v', { ':v': { S: 'x' } }, { '#a': 'a' }),
  ],
  [
    'a number taken out of a set',
    'refused',
    'UpdateItemCommand',
    update('DELETE #a :v', { ':v': { N: '1' } }, { '#a': 'a' }),
  ],
  [
    'an index key made empty',
    'refused',
    'UpdateItemCommand',
    update('SET #a = :v', { ':v': { S: '' } }, { '#a': 'gsi1sk' }),
  ],

  ['a batch of all keys', 'done', 'BatchGetItemCommand', batch(numbered(100, n => key(`${n}`)))],
  ['a key too many', 'refused', 'BatchGetItemCommand', batch(numbered(101, n => key(`${n}`)))],
  ['a key twice', 'refused', 'BatchGetItemCommand', batch([key('edge'), key('edge')])],
  ['a batch of nothing', 'refused', 'BatchGetItemCommand', { RequestItems: {} }],

  ['an index', 'done', 'QueryCommand', query({ IndexName: 'gsi1', ...of('gsi1pk') })],
  ['an index that is none', 'refused', 'QueryCommand', query({ IndexName: 'gsi9' })],
  [
    'a consistent read of an index',
    'refused',
    'QueryCommand',
    query({ IndexName: 'gsi1', ConsistentRead: true, ...of('gsi1pk') }),
  ],
  ['a page of nothing', 'refused', 'QueryCommand', query({ Limit: 0 })],
  [
    'half a starting key',
    'refused',
    'QueryCommand',
    query({ ExclusiveStartKey: { pk: { S: 'e' } } }),
  ],
  ['a query without a hash key', 'refused', 'QueryCommand', query(of('sk'))],
  [
    'two tests of a range key',
    'refused',
    'QueryCommand',
    query({
      KeyConditionExpression: 'pk = :pk AND sk > :a AND sk < :b',
      ExpressionAttributeValues: { ':pk': { S: 'x' }, ':a': { S: 'a' }, ':b': { S: 'b' } },
    }),
  ],
  [
    'bounds in parentheses',
    'done',
    'QueryCommand',
    query({
      KeyConditionExpression: '(pk = :pk) AND (sk between :a AND :b)',
      ExpressionAttributeValues: { ':pk': { S: 'edge' }, ':a': { S: 'a' }, ':b': { S: 'z' } },
    }),
  ],
  [
    'bounds the wrong way round',
    'refused',
    'QueryCommand',
    query({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :b AND :a',
      ExpressionAttributeValues: { ':pk': { S: 'edge' }, ':a': { S: 'a' }, ':b': { S: 'z' } },
    }),
  ],

  ['a transaction of all writes', 'done', 'TransactWriteItemsCommand', writes(100)],
  ['a write too many', 'refused', 'TransactWriteItemsCommand', writes(101)],
  ['a transaction of nothing', 'refused', 'TransactWriteItemsCommand', { TransactItems: [] }],
  [
    'an item twice in a transaction',
    'refused',
    'TransactWriteItemsCommand',
    { TransactItems: [...writes(2).TransactItems, ...writes(1).TransactItems] },
  ],
  [
    'a long token',
    'refused',
    'TransactWriteItemsCommand',
    { ...writes(1), ClientRequestToken: 't'.repeat(37) },
  ],
  [
    'an item too large for a transaction',
    'refused',
    'TransactWriteItemsCommand',
    { TransactItems: [{ Put: sized(409_601) }] },
  ],
  [
    'a transaction of too many bytes',
    'refused',
    'TransactWriteItemsCommand',
    {
      TransactItems: numbered(11, index => ({
        Put: { TableName, Item: { ...sized(400_000).Item, ...key(`edge#${index}`) } },
      })),
    },
  ],
]

function of(hashKey: string) {
  return { KeyConditionExpression: '#k = :pk', ExpressionAttributeNames: { '#k': hashKey } }
}

/** What DynamoDB refuses and dynoxide 1.2.1 does not, each with where that is said. */
export const strictEdges: [name: string, command: string, input: object, source: string][] = [
  [
    'a choice too many',
    'PutItemCommand',
    choices(101),
    'Quotas in Amazon DynamoDB, "Expression parameters"',
  ],
  [
    'an empty hash key of a query',
    'QueryCommand',
    query({ ExpressionAttributeValues: { ':pk': { S: '' } } }),
    'getmoto/moto#7062',
  ],
  [
    'a hash key of another type in a query',
    'QueryCommand',
    query({ ExpressionAttributeValues: { ':pk': { N: '1' } } }),
    'paritysuite/dynamodb-conformance, tests/tier3/error-messages/queryKeyConditionOperands.test.ts',
  ],
  [
    'the order of sets',
    'UpdateItemCommand',
    {
      ...update('SET #a = :v', { ':v': { SS: ['x'] } }, { '#a': 'a' }),
      ConditionExpression: '#a < :v',
    },
    'ExtendDB/extenddb#216',
  ],
  [
    'an update of nothing in a transaction',
    'TransactWriteItemsCommand',
    { TransactItems: [{ Update: update('', {}) }] },
    'paritysuite/dynamodb-conformance, tests/tier3/validation-ordering/transactions.test.ts',
  ],
  [
    'an attribute changed twice in a transaction',
    'TransactWriteItemsCommand',
    {
      TransactItems: [
        { Update: update('SET #a = :v REMOVE #b', { ':v': { S: 'x' } }, { '#a': 'a', '#b': 'a' }) },
      ],
    },
    'getmoto/moto#8582',
  ],
]
