import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { config } from '../../lib/core/config.ts'
import { startWorld } from '../world.ts'
import { play } from './play.ts'
import { breakOperations } from './play-tasks.ts'
import { FOLDER, linesOf, type Row } from './recording.ts'

// `node test/upgrade/record-rows.ts v0.1.0`: plays jobs that leave every kind of row, on a local
// stack, and writes the rows down. To be done with the code of a version just before rows change,
// and never again: what it wrote is what that version has left in people's tables.

const [version] = process.argv.slice(2)
if (!version || !/^v\d+\.\d+\.\d+$/.test(version)) throw new Error('Say which version: v0.1.0')

// Clients of their own: what is recorded is what is stored, whatever the platform reads it by.
process.env.ESPALIER_RATE_LIMITS = 'key=6000'
const world = await startWorld([], { wrap: breakOperations })
const dynamodb = new DynamoDBClient({})
const s3 = new S3Client({ forcePathStyle: true })

const rowsOf = async (): Promise<Row[]> => {
  const rows: Row[] = []
  let ExclusiveStartKey: Row | undefined
  do {
    const page = await dynamodb.send(
      new ScanCommand({ TableName: config('table'), ConsistentRead: true, ExclusiveStartKey }),
    )
    rows.push(...(page.Items ?? []))
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey)
  return rows
}

const objectsOf = async (): Promise<Record<string, string>> => {
  const Bucket = config('bucket')
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }))
  const entries = Contents.flatMap(({ Key }) => Key ?? []).map(async key => {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: key }))
    const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array()
    return [key, gzipSync(bytes).toString('base64')] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

let rows: Row[] = []
const facts = await play(world, async () => {
  rows = await rowsOf()
})
const recordedAt = new Date().toISOString()
const objects = await objectsOf()
const { ESPALIER_SETTINGS_KEYS: settingsKeys = '', ESPALIER_LINK_KEYS: linkKeys = '' } = process.env
const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } =
  process.env
const secrets = { settingsKeys, linkKeys, accessKeyId, secretAccessKey }
await world.stop()
const file = path.join(FOLDER, `${version}.jsonl`)
await writeFile(file, linesOf({ version, recordedAt, secrets, facts, objects, rows }))
process.stdout.write(`${rows.length} rows and ${Object.keys(objects).length} objects in ${file}\n`)
