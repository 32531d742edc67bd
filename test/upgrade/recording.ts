import { createReadStream, readdirSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Secrets } from '../../lib/local/data-directory.ts'
import type { Facts } from './play.ts'

export type Row = Record<string, AttributeValue>

/** What a version has left: its rows as DynamoDB has them, its objects, and what reads them. */
export type Recording = {
  version: string
  recordedAt: string
  secrets: Secrets
  /** What its users held when it was replaced: keys, ids, places in lists. */
  facts: Facts
  /** Each object's bytes by its key, gzipped, in base64. */
  objects: Record<string, string>
  rows: Row[]
}

export const FOLDER = path.join(import.meta.dirname, '../fixtures/rows')

/** The versions of which there is a recording. */
export const recordedVersions = (): string[] =>
  readdirSync(FOLDER).map(name => name.replace(/\.jsonl$/, ''))

/** A recording: its first line says all but the rows, each of the others is one. */
export const readRecording = async (version: string): Promise<Recording> => {
  const lines: unknown[] = []
  const input = createReadStream(path.join(FOLDER, `${version}.jsonl`))
  for await (const line of createInterface({ input })) lines.push(JSON.parse(line))
  const [head, ...rows] = lines as [Omit<Recording, 'rows'>, ...Row[]]
  return { ...head, rows }
}

/** The same as lines to write, the rows in the order of their keys. */
export const linesOf = ({ rows, ...head }: Recording): string => {
  const named = rows.map(row => ({ name: `${row.pk?.S} ${row.sk?.S}`, row }))
  const sorted = named.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ row }) => row)
  return [head, ...sorted].map(line => `${JSON.stringify(line)}\n`).join('')
}
