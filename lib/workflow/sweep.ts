import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { type Id, kindOf } from '../core/ids.ts'
import { addLogIds, errorFields, log, withLogIds } from '../core/log.ts'
import { DUE_SHARDS, listAllDue, listDue, postpone } from '../data/due.ts'
import * as table from '../data/table.ts'
import { getTask, Task, TERMINAL, taskKey } from '../task/task.ts'
import { trace } from '../trace/tracing.ts'
import { readConversation } from './conversation.ts'
import { TICK_TIMEOUT_SECONDS } from './definition.ts'
import { reportToParent } from './end.ts'
import { executionStatus, startGeneration } from './execution.ts'
import { goOnAfterFailure } from './stall.ts'
import { endRun, lookAfterCall } from './sweep-call.ts'
import { sendToken } from './wake.ts'

/** How many tasks and calls one sweep looks after in each shard; the next one goes on. */
const SWEEP_LIMIT = 50
/** When a task that was looked after is looked after again. */
const AGAIN_MS = 5 * 60_000
/** A tick's longest time, and as much again until the state machine has given it up. */
const RETRIED_MS = 2 * TICK_TIMEOUT_SECONDS * 1_000

/**
 * Looks after unfinished tasks that should have moved and didn't: delivers wakes again, starts
 * executions that are gone, tells parents of children that ended, and looks after calls that belong
 * to no task. Bounded work, by an index.
 *
 * `abandoned` says that every process from before is dead (the local runner at its start): then
 * all leases are broken, what was running is over, and every unfinished task is started again.
 */
export const sweep = async (
  { abandoned = false }: { abandoned?: boolean } = {},
  clock: Clock = systemClock,
): Promise<{ looked: number }> => {
  let looked = 0
  for (let shard = 0; shard < DUE_SHARDS; shard++) {
    const list = abandoned
      ? await listAllDue(shard)
      : await listDue(shard, isoNow(clock), SWEEP_LIMIT)
    for (const due of list) {
      looked += 1
      const lookAfter = async () => {
        // First: one that can't be helped must not keep the others waiting, now or the next time;
        // and one that has another time by now, which the index doesn't know, is left alone.
        const { ok } = await postpone(due, isoIn(AGAIN_MS, clock))
        if (!ok && !abandoned) return
        if (kindOf(due.pk) === 'call') await lookAfterCall(due.pk as Id<'call'>, abandoned, clock)
        else await lookAfterTask(due.pk as Id<'task'>, abandoned, clock)
      }
      await withLogIds({ [`${kindOf(due.pk)}Id`]: due.pk }, () =>
        lookAfter().catch(error => log('error', 'sweep-failed', errorFields(error))),
      )
    }
  }
  return { looked }
}

const lookAfterTask = async (id: Id<'task'>, abandoned: boolean, clock: Clock): Promise<void> => {
  const task = await getTask(id)
  addLogIds({ agentId: task.agentId, generation: task.generation })
  await trace(({ nameTask }) => nameTask(task))
  if (TERMINAL.includes(task.status)) return reportToParent(task, clock)
  if (abandoned) {
    await breakLease(task)
    await endStartedCalls(task, clock)
    await startGeneration(await getTask(task.id), clock)
    return
  }
  if (task.leaseUntil !== undefined && task.leaseUntil > isoNow(clock)) return
  log('warn', 'task-swept', { taskId: task.id, status: task.status })
  const execution = await executionStatus(task)
  if (execution === 'FAILED' || execution === 'TIMED_OUT') return goOnAfterFailure(task, clock)
  if (execution !== 'RUNNING') await startGeneration(task, clock)
  else if (await isForgotten(task, clock))
    // A tick that takes the lease in this moment looks itself.
    await startGeneration(task, clock, { where: { fence: task.fence } })
}

/**
 * Whether nobody looks after a task any more that should have moved by now, although its execution
 * goes on: that waits for something else than the task does. What a tick says that was delivered
 * late is heard by nobody, and a late Park puts its dead token over the one that counts. Where the
 * row's token still ends a wait, its execution looks now. One whose tick has died is being tried
 * again.
 */
const isForgotten = async (task: Task, clock: Clock): Promise<boolean> => {
  if (task.status === 'RUNNING') return Date.parse(task.updatedAt) + RETRIED_MS < timeOf(clock)
  return task.token === undefined || !(await sendToken(task.token))
}

const timeOf = (clock: Clock): number => clock.now().getTime()

const breakLease = (task: Task) =>
  table.update(Task, taskKey(task.id), { remove: ['leaseUntil', 'token'] })

const endStartedCalls = async (task: Task, clock: Clock): Promise<void> => {
  const { calls } = await readConversation(task.id)
  for (const call of calls.values()) await endRun(call, clock)
}
