import { devNull } from 'node:os'
import { afterAll, beforeAll } from 'vitest'
import { createTable } from '../lib/local/create-table.ts'
import { type LocalDynamoDb, startDynamoDb } from '../lib/local/dynamodb.ts'

/** Gives a file's tests a real, empty table, as a deploy would make it. */
export const useLocalTable = (): void => {
  let database: LocalDynamoDb | undefined
  beforeAll(async () => {
    database = await startDynamoDb()
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_DYNAMODB: database.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_CONFIG_FILE: devNull,
      AWS_SHARED_CREDENTIALS_FILE: devNull,
      ESPALIER_TABLE: 'espalier',
    })
    await createTable('espalier')
  })
  afterAll(() => database?.close())
}

/** A clock that stands still, and can be set. */
export const clockAt = (iso: string) => {
  let now = new Date(iso)
  return {
    now: () => now,
    set: (next: string) => {
      now = new Date(next)
    },
  }
}
