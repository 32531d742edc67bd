import { unmarshall } from '@aws-sdk/util-dynamodb'
import { statesBefore, type TaskStatus } from '../../lib/task/task.ts'
import { type Input, short, writtenKeys } from './label.ts'
import type { Run } from './run.ts'

type Row = { status: TaskStatus; fence: number; generation: number; wakeSeq: number }

/** Holds every write of a task to the table of legal moves, as it happens. */
export const createWatch = (run: Pick<Run, 'table' | 'violate'>) => {
  const rows = new Map<string, Row>()

  const look = (key: string): void => {
    const [pk = '', sk = ''] = key.split('/')
    const { Item } = run.table.perform('GetItemCommand', {
      TableName: process.env.ESPALIER_TABLE,
      Key: { pk: { S: pk }, sk: { S: sk } },
      ConsistentRead: true,
    }) as { Item?: never }
    if (!Item) return
    const { status, fence, generation, wakeSeq } = unmarshall(Item) as Row
    const before = rows.get(key)
    rows.set(key, { status, fence, generation, wakeSeq })
    if (!before) return
    if (before.status !== status && !statesBefore(status).includes(before.status))
      run.violate(`${short(pk)} moved from ${before.status} to ${status}`)
    for (const [name, was, is] of [
      ['fence', before.fence, fence],
      ['generation', before.generation, generation],
      ['wakeSeq', before.wakeSeq, wakeSeq],
    ] as const)
      if (is < was) run.violate(`${short(pk)}: its ${name} fell from ${was} to ${is}`)
  }

  return {
    statuses: (): TaskStatus[] => [...rows.values()].map(({ status }) => status),
    written: (name: string, input: Input): void => {
      for (const key of writtenKeys(name, input)) if (key.endsWith('/task')) look(key)
    },
  }
}
