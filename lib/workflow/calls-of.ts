import { callIdAt } from '../call/tool-call.ts'
import type { Id } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { entryOf, HistoryRow, historyKey } from '../task/history.ts'
import { callIdsOf, MAX_CALLS_PER_STEP } from './conversation.ts'

/** A history's place has six digits. */
const LAST_SEQ = 999_999

/**
 * The ids of all calls that a task can have made, in order. Where a step's message can't be read, all
 * that a step may make: whoever removes a task must not be kept from it by what is broken of it.
 */
export const callsOf = async (taskId: Id<'task'>): Promise<Id<'call'>[]> => {
  const between = [historyKey(taskId, 0).sk, historyKey(taskId, LAST_SEQ).sk] as const
  const rows = await table.queryAll(HistoryRow, { pk: taskId, between })
  const ids = rows.filter(({ role }) => role === 'assistant').map(callsIn)
  return (await Promise.all(ids)).flat()
}

const callsIn = async (row: HistoryRow): Promise<Id<'call'>[]> => {
  try {
    return callIdsOf(await entryOf(row))
  } catch {
    return Array.from({ length: MAX_CALLS_PER_STEP }, (_, index) =>
      callIdAt(row.taskId, row.seq, index),
    )
  }
}
