import { setTimeout as sleep } from 'node:timers/promises'
import { isRefusal } from '../core/errors.ts'
import { figures, log } from '../core/log.ts'
import { type Task, TERMINAL } from '../task/task.ts'
import type { ToolRegistry } from '../tool/registry.ts'
import { type Change, createWatch, type Place } from '../workflow/watch.ts'
import { heartbeat, message, retryAfter } from './event-stream.ts'
import { presentCall } from './present-call.ts'
import { presentAnswer, presentSaid } from './present-history.ts'
import { presentTask } from './present-task.ts'
import { presentTaskEvent } from './present-task-event.ts'
import { encodeStreamPlace } from './stream-place.ts'

/** How long one stream lasts; its client comes back for the rest, from the last message on. */
export const STREAM_MS = 60_000
/** When a client should come back. */
export const RETRY_MS = 1_000
/** The longest silence, which is shorter than any gateway on the way bears. */
export const HEARTBEAT_MS = 15_000
/** How often it is asked again whether the reader may still read. */
export const RECHECK_MS = 15_000

/** The pause between two looks after something happened, and how it grows while nothing does. */
export const FASTEST_LOOK_MS = 500
const GROWTH = 1.5
/** How long it grows: of a task that runs, and of one that waits for somebody. */
export const SLOWEST_RUNNING_MS = 2_000
export const SLOWEST_WAITING_MS = 5_000

/** The times by which a stream goes, in milliseconds. */
export type Pace = { streamMs: number; heartbeatMs: number; recheckMs: number }
const PACE: Pace = { streamMs: STREAM_MS, heartbeatMs: HEARTBEAT_MS, recheckMs: RECHECK_MS }

export type Following = {
  taskId: Task['id']
  from: Place
  tools: ToolRegistry
  /** Refuses once the reader may not read the task any more. */
  recheck: () => Promise<unknown>
  /** Tells that the reader has gone. */
  signal: AbortSignal
  pace?: Pace
}

/**
 * What a watcher of a task is sent: its view when that changes, what is said and answered, each call
 * when it moves, each event; and `end` once the task has ended and all of it was sent. Ends without
 * a word when the minute is over, the task is gone or may not be read any more: who comes back is
 * told.
 */
export async function* followTask(following: Following): AsyncGenerator<string, void> {
  const { taskId, from, tools, recheck, signal, pace = PACE } = following
  const watch = createWatch(taskId, from)
  const startedAt = performance.now()
  const elapsed = () => performance.now() - startedAt
  let pauseMs = FASTEST_LOOK_MS
  let spokenAt = 0
  let checkedAt = 0
  let looks = 0
  try {
    yield retryAfter(RETRY_MS)
    while (!signal.aborted) {
      if (elapsed() - checkedAt >= pace.recheckMs) {
        if (!(await isAllowed(recheck))) return
        checkedAt = elapsed()
      }
      const seen = await watch.look()
      looks += 1
      if (!seen) return
      for (const change of seen.changes) {
        yield await messageOf(change, tools)
        spokenAt = elapsed()
      }
      if (seen.more) continue
      const isNews = seen.changes.length > 0
      if (TERMINAL.includes(seen.task.status)) {
        // What was written before the task ended may not have been seen by the look that saw the end.
        if (isNews) continue
        yield endMessage(seen.task, watch.place())
        return
      }
      if (elapsed() >= pace.streamMs) return
      if (elapsed() - spokenAt >= pace.heartbeatMs) {
        yield heartbeat()
        spokenAt = elapsed()
      }
      pauseMs = isNews ? FASTEST_LOOK_MS : Math.min(pauseMs * GROWTH, slowestFor(seen.task))
      const restMs = Math.max(pace.streamMs - elapsed(), 0)
      // Whoever has gone wakes it: the loop looks whether anyone is there.
      await sleep(Math.min(pauseMs, restMs), undefined, { signal }).catch(() => {})
    }
  } finally {
    log('info', 'stream-ended', {
      taskId,
      looks,
      milliseconds: Math.round(elapsed()),
      ...figures(),
    })
  }
}

const slowestFor = ({ status }: Task): number =>
  status === 'RUNNING' || status === 'QUEUED' ? SLOWEST_RUNNING_MS : SLOWEST_WAITING_MS

const isAllowed = async (recheck: () => Promise<unknown>): Promise<boolean> => {
  try {
    await recheck()
    return true
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}

const messageOf = async (change: Change, tools: ToolRegistry): Promise<string> => {
  const id = encodeStreamPlace(change.place)
  switch (change.kind) {
    case 'task':
      return message({ id, event: 'task', data: await presentTask(change.task) })
    case 'event':
      return message({ id, event: 'event', data: presentTaskEvent(change.event) })
    case 'said':
      return message({ id, event: 'history', data: presentSaid(change.entry) })
    case 'answer': {
      const { entry, index, answer } = change
      return message({ id, event: 'history', data: presentAnswer(entry, index, answer) })
    }
    case 'call':
      return message({ id, event: 'tool_call', data: await presentCall(change.call, tools) })
    default:
      return change satisfies never
  }
}

/** After it there is nothing to come back for, until the task begins a new life. */
const endMessage = ({ status }: Task, place: Place): string =>
  message({ id: encodeStreamPlace(place, { isEnd: true }), event: 'end', data: { status } })
