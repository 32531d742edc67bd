import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorFields, log } from '../core/log.ts'

export type Schedule = { name: string; rateMinutes: number; functionName: string }

type Options = {
  schedules: Schedule[]
  invoke: (functionName: string, event: unknown) => Promise<{ functionError?: string }>
}

const MINUTE_MS = 60_000

/**
 * Invokes each function at its rate, for the first time one period from now. A run that takes
 * longer than its period delays the next: it never overlaps itself, and missed turns are skipped.
 */
export const startScheduler = ({ schedules, invoke }: Options): { close: () => void } => {
  const closing = new AbortController()
  const { signal } = closing

  const runOnce = async ({ name, functionName }: Schedule): Promise<void> => {
    try {
      const { functionError } = await invoke(functionName, eventOf(name))
      if (functionError) log('error', 'schedule-failed', { schedule: name, functionError })
    } catch (error) {
      log('error', 'schedule-failed', { schedule: name, ...errorFields(error) })
    }
  }

  const loop = async (schedule: Schedule): Promise<void> => {
    const periodMs = schedule.rateMinutes * MINUTE_MS
    for (let dueAt = Date.now() + periodMs; ; dueAt = nextAfter(Date.now(), dueAt, periodMs)) {
      await sleep(Math.max(0, dueAt - Date.now()), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      await runOnce(schedule)
      if (signal.aborted) return
    }
  }

  for (const schedule of schedules) loop(schedule)
  return { close: () => closing.abort() }
}

/** The first turn after `now` on the rhythm of `dueAt`. */
const nextAfter = (now: number, dueAt: number, periodMs: number): number =>
  dueAt + Math.max(1, Math.ceil((now - dueAt) / periodMs)) * periodMs

/** What EventBridge Scheduler sends to a function where a schedule names no input of its own. */
const eventOf = (name: string) => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'Scheduled Event',
  source: 'aws.scheduler',
  account: '000000000000',
  time: new Date().toISOString(),
  region: 'us-east-1',
  resources: [`arn:aws:scheduler:us-east-1:000000000000:schedule/default/${name}`],
  detail: '{}',
})
