import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import * as dynamodb from '../aws/dynamodb.ts'
import { config } from '../core/config.ts'
import type { Key } from './item.ts'
import { countUsage } from './usage.ts'

export type Row = Key & Record<string, unknown>

/**
 * All items whose leading key begins so, page after page, each of `pageSize` items looked at: it
 * reads the whole table. For an operator's scripts alone: no function may scan.
 */
export async function* scan(prefixes: string[], pageSize: number): AsyncGenerator<Row[]> {
  let start: Record<string, AttributeValue> | undefined
  do {
    const response = await dynamodb.scan({
      TableName: config('table'),
      ConsistentRead: true,
      Limit: pageSize,
      FilterExpression: prefixes
        .map((_, index) => `begins_with(#pk, :prefix${index})`)
        .join(' OR '),
      ExpressionAttributeNames: { '#pk': 'pk' },
      ExpressionAttributeValues: Object.fromEntries(
        prefixes.map((prefix, index) => [`:prefix${index}`, { S: prefix }]),
      ),
      ExclusiveStartKey: start,
      ReturnConsumedCapacity: 'TOTAL',
    })
    countUsage('read', response.ConsumedCapacity)
    yield (response.Items ?? []).map(item => unmarshall(item) as Row)
    start = response.LastEvaluatedKey
  } while (start)
}
