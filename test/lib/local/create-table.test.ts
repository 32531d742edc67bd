import { DescribeTableCommand, DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { INDEXES } from '../../../lib/data/definition.ts'
import * as table from '../../../lib/data/table.ts'
import { createTable } from '../../../lib/local/create-table.ts'
import { useLocalTable } from '../../local-table.ts'
import { dynamodb } from '../../sdk.ts'

useLocalTable()

const describe = () => dynamodb().send(new DescribeTableCommand({ TableName: 'espalier' }))

test('the table is ready, with every index on whole items', async () => {
  const { Table } = await describe()
  expect(Table?.TableStatus).toBe('ACTIVE')
  const indexes = Table?.GlobalSecondaryIndexes?.map(({ IndexName, Projection }) => [
    IndexName,
    Projection?.ProjectionType,
  ])
  expect(indexes?.sort()).toEqual(Object.keys(INDEXES).map(name => [name, 'ALL']))
})

test('items end at their ttl', async () => {
  const { TimeToLiveDescription } = await dynamodb().send(
    new DescribeTimeToLiveCommand({ TableName: 'espalier' }),
  )
  expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'ttl', TimeToLiveStatus: 'ENABLED' })
})

test('a table that is there keeps its items', async () => {
  const key = { pk: 'kept', sk: 'row' }
  await table.insert(z.object({}), {}, { key })
  await createTable('espalier')
  expect(await table.get(z.object({}), key)).toEqual({})
})
