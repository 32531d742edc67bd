import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { notFound } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { type Change, is, type Where } from '../data/expression.ts'
import { Large, loadLarge } from '../data/large.ts'
import * as table from '../data/table.ts'
import { PrincipalId } from '../principal/principal.ts'

export const TaskStatus = z.enum([
  'QUEUED',
  'RUNNING',
  'PENDING_APPROVAL',
  'AWAITING_SUB_AGENTS',
  'AWAITING_INPUT',
  'AWAITING_TOOL',
  'AWAITING_SETTLEMENT',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'ABORTED',
])
export type TaskStatus = z.infer<typeof TaskStatus>

const WAITING = [
  'PENDING_APPROVAL',
  'AWAITING_SUB_AGENTS',
  'AWAITING_INPUT',
  'AWAITING_TOOL',
  'AWAITING_SETTLEMENT',
] satisfies TaskStatus[]

export const TERMINAL: TaskStatus[] = ['COMPLETED', 'FAILED', 'CANCELLED', 'ABORTED']
export const OPEN: TaskStatus[] = ['QUEUED', 'RUNNING', ...WAITING]

/** Every legal move. A move that isn't here can't be written. CANCELLED is final. */
const MOVES: Record<TaskStatus, readonly TaskStatus[]> = {
  QUEUED: ['RUNNING', 'CANCELLED', 'ABORTED'],
  RUNNING: ['QUEUED', 'RUNNING', ...WAITING, 'COMPLETED', 'FAILED', 'CANCELLED', 'ABORTED'],
  PENDING_APPROVAL: ['RUNNING', 'CANCELLED', 'ABORTED'],
  AWAITING_SUB_AGENTS: ['RUNNING', 'CANCELLED', 'ABORTED'],
  AWAITING_INPUT: ['RUNNING', 'CANCELLED', 'ABORTED'],
  AWAITING_TOOL: ['RUNNING', 'CANCELLED', 'ABORTED'],
  AWAITING_SETTLEMENT: ['RUNNING', 'CANCELLED', 'ABORTED'],
  // A new life: a follow-up; a retry or a continuation.
  COMPLETED: ['QUEUED'],
  FAILED: ['QUEUED'],
  ABORTED: ['QUEUED'],
  CANCELLED: [],
}

/** The states from which a task may move to this one. */
export const statesBefore = (to: TaskStatus): TaskStatus[] =>
  TaskStatus.options.filter(from => MOVES[from].includes(to))

export const Task = z.object({
  id: idOf('task'),
  agentId: idOf('agent'),
  principalId: PrincipalId,
  status: TaskStatus,
  /** Whose request began it: a user's or an agent's id; the whole tree has its root's. */
  startedBy: z.string().optional(),
  /** Who had it go on after an end: they started what it does since as much. */
  alsoStartedBy: z.array(z.string()).optional(),
  /** The top of the tree that this task is in; itself, where nobody spawned it. */
  rootId: idOf('task'),
  parentId: idOf('task').optional(),
  /** Of a child: the call that asked for it, and what its end is to its parent. */
  spawn: z
    .object({
      callId: idOf('call'),
      /** The call is answered when all of its children have ended, or at the latest by then. */
      awaited: z.boolean(),
      awaitedUntil: z.iso.datetime().optional(),
      /** Where no call waits for it: whether its parent hears of its end. */
      attention: z.boolean(),
    })
    .optional(),
  /** It runs only in one of so many slots of the agent that asked for it (`workflow/slots.ts`). */
  slots: z.object({ agentId: idOf('agent'), cap: z.int(), isNested: z.boolean() }).optional(),
  /** Since when it has waited for a slot, while it does. */
  slotAskedAt: z.iso.datetime().optional(),
  /** Others in its tree wait for its end (`workflow/waits-for.ts`). */
  isWaitedFor: z.literal(true).optional(),
  /**
   * Whose cancelling is this task's as well, the root first: the tasks above it, and in each place
   * those that handed over. The last is the one that asked for it.
   */
  lineage: z.array(idOf('task')),
  /** How many tasks are above this one; the rest of its lineage has handed over. */
  depth: z.int(),
  /** Steps in one life, which a retry, a continuation or a follow-up begins anew. */
  maxSteps: z.int(),
  /** Steps that its earlier lives have taken. */
  stepsFrom: z.int().default(0),
  /** What its own steps may use, input and output together. */
  maxTokens: z.int().optional(),
  createdAt: z.iso.datetime(),
  /** How often it has begun anew after an end, and when it last did; absent, never. */
  life: z.int().optional(),
  begunAt: z.iso.datetime().optional(),
  updatedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().optional(),
  finalResponse: Large.optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  handoverTo: idOf('task').optional(),
  /** Whose that task is, as the agent was called then. */
  handoverAgent: z.object({ id: idOf('agent'), name: z.string() }).optional(),
  /** Model requests that failed in a row. */
  failures: z.int(),
  /** How often it has begun anew after such, as its agent says, since its life began. */
  retries: z.int().default(0),
  /** The events that it has (`event.ts`): the latest one's place. */
  eventSeq: z.int().default(0),
  /** Names the execution that may move the task: an older one's tick exits. */
  generation: z.int(),
  /** Ticks in this generation, so that an execution ends long before its history is full. */
  ticks: z.int(),
  /** Executions that ended in failure in a row, and how much was done by then. */
  stalls: z.int().optional(),
  stalledAt: z.int().optional(),
  /** Rises with each wake; a tick that parks says which one it saw. */
  wakeSeq: z.int(),
  seenWakeSeq: z.int(),
  /** Ends the execution's wait. */
  token: z.string().optional(),
  /** Only grows; every write of a tick is on condition that it is still its own. */
  fence: z.int(),
  leaseUntil: z.iso.datetime().optional(),
  /** Before this its next try after a failed model request is not made. */
  retryAt: z.iso.datetime().optional(),
  claim: z.string().optional(),
  requestHash: z.string().optional(),
})
export type Task = z.infer<typeof Task>

// Access patterns: one task by id; a principal's tasks and an agent's tasks, newest first.
// Unfinished tasks are in the list of what is due (`data/due.ts`).
export const taskKey = (id: Id<'task'>): table.Key => ({ pk: id, sk: 'task' })

export const taskIndexes = (task: Pick<Task, 'id' | 'principalId' | 'agentId' | 'createdAt'>) => ({
  gsi1pk: `${task.principalId}#task`,
  gsi1sk: `${task.createdAt}#${task.id}`,
  gsi2pk: `${task.agentId}#task`,
  gsi2sk: `${task.createdAt}#${task.id}`,
})

/** One task, or NOT_FOUND. */
export const getTask = async (id: Id<'task'>): Promise<Task> => {
  const task = await table.get(Task, taskKey(id))
  if (!task) throw notFound('task', id)
  return task
}

export const getTasks = async (ids: Id<'task'>[]): Promise<Task[]> => {
  const found = await table.batchGet(ids.map(taskKey))
  return ids.flatMap(id => found.get(Task, taskKey(id)) ?? [])
}

/** A task and those in whose place it goes on. */
export const placesOf = ({
  id,
  parentId,
  lineage,
}: Pick<Task, 'id' | 'parentId' | 'lineage'>): Id<'task'>[] => [
  ...lineage.slice(parentId ? lineage.indexOf(parentId) + 1 : 0),
  id,
]

/** The tasks that now stand where these did: who has handed over is followed. */
export const lastInLine = async (tasks: Task[]): Promise<Task[]> =>
  tasks.every(task => task.handoverTo === undefined)
    ? tasks
    : lastInLine(await getTasks(tasks.map(task => task.handoverTo ?? task.id)))

/** Which tasks of a list are asked for: absent fields ask for all. */
export type TaskFilter = { status?: TaskStatus[]; agentId?: Id<'agent'>; isRoot?: true }

/** A filter may pass over so many pages before a list says where it goes on. */
const MAX_FILTERED_PAGES = 10

/**
 * A principal's or an agent's tasks, newest first. With a filter a page may hold fewer than its
 * limit, or none, and go on all the same.
 */
export const listTasks = async (
  by: { principalId: PrincipalId } | { agentId: Id<'agent'> },
  { limit, cursor, ...filter }: { limit: number; cursor?: string } & TaskFilter,
): Promise<table.Page<Task>> => {
  const list =
    'agentId' in by
      ? ({ index: 'gsi2', pk: `${by.agentId}#task` } as const)
      : ({ index: 'gsi1', pk: `${by.principalId}#task` } as const)
  const where = {
    ...(filter.status ? { status: is.oneOf(filter.status) } : {}),
    ...(filter.agentId ? { agentId: filter.agentId } : {}),
    ...(filter.isRoot ? { depth: 0 } : {}),
  }
  const page: table.Page<Task> = { items: [], ...(cursor ? { cursor } : {}) }
  for (let read = 0; read < MAX_FILTERED_PAGES; read++) {
    const { items, cursor: next } = await table.query(Task, {
      ...list,
      where,
      newestFirst: true,
      limit: limit - page.items.length,
      ...(page.cursor ? { cursor: page.cursor } : {}),
    })
    page.items.push(...items)
    if (next) page.cursor = next
    else delete page.cursor
    if (!next || page.items.length === limit) break
  }
  return page
}

/** What a task said at its end; empty where it said nothing. */
export const finalText = async (task: Task): Promise<string> =>
  task.finalResponse ? loadLarge(z.string(), task.finalResponse) : ''

type Move = { set?: Record<string, unknown>; remove?: string[]; add?: Record<string, number> }

/** What a move writes, and on which condition: only along the table of legal moves. */
export const moveOf = (
  to: TaskStatus,
  { set = {}, remove = [], add = {} }: Move = {},
  clock: Clock = systemClock,
): { change: Change; where: Where } => ({
  change: { set: { ...set, status: to, updatedAt: isoNow(clock) }, remove, add },
  where: { status: is.oneOf(statesBefore(to)) },
})
