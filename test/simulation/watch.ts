import { unmarshall } from '@aws-sdk/util-dynamodb'
import { statesBefore, type TaskStatus } from '../../lib/task/task.ts'
import { type Input, short, writtenKeys } from './label.ts'
import type { Life } from './life.ts'
import type { Run } from './run.ts'

type Row = {
  status: TaskStatus
  fence: number
  generation: number
  wakeSeq: number
  leaseUntil: string | undefined
}

/** Holds every write of a task to the table of legal moves, and to who holds it, as it happens. */
export const createWatch = (run: Pick<Run, 'table' | 'violate'>) => {
  const rows = new Map<string, Row>()
  /** Which tick took a task last. */
  const holders = new Map<string, Life>()

  const look = (key: string, life: Life): void => {
    const [pk = '', sk = ''] = key.split('/')
    const { Item } = run.table.perform('GetItemCommand', {
      TableName: process.env.ESPALIER_TABLE,
      Key: { pk: { S: pk }, sk: { S: sk } },
      ConsistentRead: true,
    }) as { Item?: never }
    if (!Item) return
    const { status, fence, generation, wakeSeq, leaseUntil } = unmarshall(Item) as Row
    const before = rows.get(key)
    const row = { status, fence, generation, wakeSeq, leaseUntil }
    rows.set(key, row)
    if (!before) return
    if (before.status !== status && !statesBefore(status).includes(before.status))
      run.violate(`${short(pk)} moved from ${before.status} to ${status}`)
    checkHolder(pk, life, before, row)
    for (const [name, was, is] of [
      ['fence', before.fence, fence],
      ['generation', before.generation, generation],
      ['wakeSeq', before.wakeSeq, wakeSeq],
    ] as const)
      if (is < was) run.violate(`${short(pk)}: its ${name} fell from ${was} to ${is}`)
  }

  /** What a tick writes to its own task counts only while nobody has taken that since. */
  const checkHolder = (taskId: string, life: Life, before: Row, row: Row): void => {
    if (life.role !== 'tick' || (life.event as { taskId?: string }).taskId !== taskId) return
    const isTaking = row.fence > before.fence && row.leaseUntil !== undefined
    if (isTaking) holders.set(taskId, life)
    const isWriting = before.status !== row.status || before.leaseUntil !== row.leaseUntil
    const holder = holders.get(taskId)
    if (isWriting && holder !== life)
      run.violate(`${short(taskId)} was written by tick#${life.id}, and tick#${holder?.id} has it`)
  }

  return {
    statuses: (): TaskStatus[] => [...rows.values()].map(({ status }) => status),
    written: (life: Life, name: string, input: Input): void => {
      for (const key of writtenKeys(name, input)) if (key.endsWith('/task')) look(key, life)
    },
  }
}
