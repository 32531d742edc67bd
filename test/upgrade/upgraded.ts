import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { config } from '../../lib/core/config.ts'
import { putObject } from '../../lib/data/objects.ts'
import { startWorld } from '../world.ts'
import type { Recording, Row } from './recording.ts'
import { shiftTime } from './shift-time.ts'

/** How long after its recording an installation is upgraded, so that leases and pauses are over. */
const LATER_MS = 10 * 60_000

/**
 * The platform of today on what an earlier version has left, as a deploy finds it: rows and objects,
 * the secrets, and no execution that is known any more. It is the time of the recording, so that
 * what was open then still is.
 */
export const startUpgraded = async (recording: Recording) => {
  const offsetMs = Date.parse(recording.recordedAt) + LATER_MS - Date.now()
  const restoreTime = shiftTime(offsetMs)
  const directory = await mkdtemp(path.join(tmpdir(), 'espalier-upgrade-'))
  await writeFile(path.join(directory, 'secrets.json'), JSON.stringify(recording.secrets))
  const world = await startWorld([], { directory, adminKey: recording.facts.adminKey })
  const dynamodb = new DynamoDBClient({})
  for (const row of recording.rows)
    await dynamodb.send(
      new PutItemCommand({ TableName: config('table'), Item: keptFor(row, -offsetMs) }),
    )
  for (const [key, bytes] of Object.entries(recording.objects))
    await putObject(key, gunzipSync(Buffer.from(bytes, 'base64')), 'application/octet-stream')
  const stop = async () => {
    await world.stop()
    restoreTime()
  }
  return { ...world, stop }
}

/** The database goes by its own clock, and would remove what has expired by that. */
const keptFor = (row: Row, shiftMs: number): Row =>
  row.ttl ? { ...row, ttl: { N: String(Number(row.ttl.N) + Math.ceil(shiftMs / 1_000)) } } : row
