/**
 * A process for dynamodb.test.ts to kill: it starts the database on the file it is given, prints
 * the URL, and puts one item after another, printing each number once it has been acknowledged.
 */
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { startDynamoDb } from '../../../lib/local/dynamodb.ts'

const { url } = await startDynamoDb({ file: process.argv[2] ?? '' })
process.stdout.write(`${url}\n`)

const client = new DynamoDBClient({
  endpoint: url,
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
})
for (let number = 0; ; number++) {
  const Item = { pk: { S: String(number) } }
  await client.send(new PutItemCommand({ TableName: 'kept', Item }))
  process.stdout.write(`${number}\n`)
}
