import type { Agent } from '../agent/agent.ts'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { dueIndex } from '../data/due.ts'
import { is } from '../data/expression.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { nanoOf } from '../llm/price.ts'
import { eventWrite } from './event.ts'
import { historyKey, historyRow } from './history.ts'
import { emptyLedger, ledgerKey, type TreeLimits } from './ledger.ts'
import { markersOf } from './open-children.ts'
import { remainsKey } from './remains.ts'
import { getTask, OPEN, type Task, taskIndexes, taskKey } from './task.ts'

/** A prompt's length at most, in characters. */
export const MAX_PROMPT_CHARS = 1_000_000
/** How deep sub-agents may nest. */
export const MAX_DEPTH = 3
/**
 * How often a task is handed on, its own way and those above it together: agents that may hand
 * over to each other would pass it to and fro for ever.
 */
export const MAX_HANDOVERS = 10
/** When the sweeper looks after a task that should have started. */
export const START_GRACE_MS = 60_000

export type NewTask = {
  id: Id<'task'>
  agent: Agent
  prompt: string
  /** Where it stands in a tree; absent, it is a root of its own. */
  place?: Pick<Task, 'rootId' | 'parentId' | 'lineage' | 'depth' | 'spawn' | 'slots'>
  requestHash?: string
  /** Removes objects: few of those who make tasks may. */
  discard?: (objectKeys: string[]) => Promise<void>
  /** Who asks for it: a user's or an agent's id. */
  startedBy?: string
}

/**
 * Makes a task, QUEUED, with its prompt, and with its marker under its parent, all or nothing.
 * Made again under the same id, the first one is returned and nothing changes. INVALID_STATE where
 * the task that asks for it has ended: who cancels that one never misses what it was just making; or
 * for the id of a task that was deleted.
 */
export const createTask = async (
  {
    id,
    agent,
    prompt,
    place = { rootId: id, lineage: [], depth: 0 },
    requestHash,
    discard,
    startedBy,
  }: NewTask,
  clock: Clock = systemClock,
): Promise<{ task: Task; created: boolean }> => {
  const now = isoNow(clock)
  const task: Task = {
    id,
    agentId: agent.id,
    principalId: agent.principalId,
    status: 'QUEUED',
    ...(startedBy === undefined ? {} : { startedBy }),
    ...place,
    maxSteps: agent.maxSteps,
    stepsFrom: 0,
    ...(agent.maxTokens === undefined ? {} : { maxTokens: agent.maxTokens }),
    createdAt: now,
    updatedAt: now,
    failures: 0,
    retries: 0,
    eventSeq: 1,
    generation: 0,
    ticks: 0,
    wakeSeq: 0,
    seenWakeSeq: 0,
    fence: 0,
    ...(requestHash === undefined ? {} : { requestHash }),
  }
  const row = await historyRow(
    { taskId: id, seq: 0, createdAt: now },
    { role: 'user', text: prompt },
  )
  const belongings: TransactionWrite[] = [
    ...markersOf(task).map(({ key, kind }) => ({ insert: { kind }, key })),
    ...(place.rootId === id
      ? [{ insert: emptyLedger(id, treeLimitsOf(agent)), key: ledgerKey(id) }]
      : []),
  ]
  const source = place.lineage.at(-1)
  const outcome = await transact([
    {
      insert: task,
      key: taskKey(id),
      indexes: { ...taskIndexes(task), ...dueIndex(id, isoIn(START_GRACE_MS, clock)) },
    },
    { insert: row, key: historyKey(id, 0) },
    eventWrite(
      { id, eventSeq: 0 },
      { type: 'created', status: 'QUEUED', ...(startedBy === undefined ? {} : { by: startedBy }) },
      clock,
    ),
    ...belongings,
    ...(source ? [{ check: taskKey(source), where: { status: is.oneOf(OPEN) } }] : []),
    // What comes again under its Idempotency-Key has an id that follows from that.
    ...(requestHash ? [{ check: remainsKey(id), where: { pk: is.absent } }] : []),
  ])
  if (outcome.ok) return { task, created: true }
  // The first write is the task's own: where that could be made, it is the source that has ended.
  if (outcome.failed.includes(0)) return { task: await getTask(id), created: false }
  if (source) throw new AppError('INVALID_STATE', 'The task has ended and starts nothing any more.')
  if ('objectKey' in row.message) await discard?.([row.message.objectKey])
  throw new AppError(
    'INVALID_STATE',
    `This request has made the task ${id}, which was deleted. To start another, use a new Idempotency-Key.`,
  )
}

const treeLimitsOf = ({ maxTreeTokens, maxTreeCostUsd }: Agent): TreeLimits => ({
  maxTokens: maxTreeTokens,
  maxCost: maxTreeCostUsd === undefined ? undefined : nanoOf(maxTreeCostUsd),
})
