import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { Hono } from 'hono'
import { handle } from 'hono/aws-lambda'
import * as z from 'zod'

// What any function of this kind costs at least: one route, one schema, one read.

const Body = z.object({ timezone: z.string().optional() })
const client = new DynamoDBClient({})

const app = new Hono().post('/api/v1/tools/time/operations/now', async context => {
  const body = Body.parse(await context.req.json())
  const response = await client.send(
    new GetItemCommand({
      TableName: process.env.ESPALIER_TABLE,
      Key: { pk: { S: 'nothing' }, sk: { S: 'here' } },
    }),
  )
  return context.json({ data: { ...body, found: response.Item !== undefined } })
})

export const handler = handle(app)
