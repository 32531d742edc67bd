import { type CallResult, callKey, ToolCall } from '../call/tool-call.ts'
import type { Id } from '../core/ids.ts'
import { batchGet } from '../data/table.ts'
import { listEvents, type TaskEvent } from '../task/event.ts'
import { type Entry, entryOf, HistoryRow, historyKey, readEntries } from '../task/history.ts'
import { Task, taskKey } from '../task/task.ts'
import { answersOf, callIdsOf, readCalls } from './conversation.ts'

/** How far a watcher has come: what comes next of each that is counted. */
export type Place = {
  /** The next entry of the history. */
  history: number
  /** The last event of the task. */
  event: number
  /** The first step with calls that have not ended: it is told of again. */
  open?: number
}
export const START: Place = { history: 0, event: 0 }

/** One thing to tell, and the place from which a watcher goes on that has been told so far. */
export type Change = { place: Place } & (
  | { kind: 'task'; task: Task }
  | { kind: 'event'; event: TaskEvent }
  | { kind: 'said'; entry: Entry }
  | { kind: 'call'; call: ToolCall }
  | { kind: 'answer'; entry: Entry; index: number; answer: CallResult }
)

/** A step whose calls are still told of. */
type Step = {
  entry: Entry
  ids: Id<'call'>[]
  told: Map<Id<'call'>, string>
  answered: Set<number>
}

/** Entries that one look reads at most, where a watcher has not come to the last of them. */
const ENTRIES_PER_LOOK = 20

/**
 * Looks at a task again and again, and tells what is new. The task's row says when it moved; what
 * its steps do never touches that row, and stands under keys that are known before: the next entry
 * of the history, and the calls of the last step. So a look at which nothing happened is one batched
 * read, of two items and the calls that have not ended.
 */
export const createWatch = (taskId: Id<'task'>, from: Place) => {
  let { history, event } = from
  let next = from.open ?? from.history
  // Further entries than the next one may be there.
  let isBehind = true
  let toldTask: string | undefined
  const open = new Map<number, Step>()

  const place = (): Place => ({
    history,
    event,
    ...(open.size > 0 ? { open: Math.min(...open.keys()) } : {}),
  })

  /** What is new of a step's calls. One that has all its answers is not looked at any more. */
  const tellStep = async (
    step: Step,
    calls: ReadonlyMap<Id<'call'>, ToolCall>,
  ): Promise<Change[]> => {
    const { entry, told, answered } = step
    open.set(entry.seq, step)
    const changed = new Map([...calls].filter(([id, call]) => told.get(id) !== stateOf(call)))
    const answers = await answersOf(entry, changed)
    const changes = [...changed.values()].map(
      (call): Change => ({ kind: 'call', call, place: place() }),
    )
    for (const [id, call] of changed) told.set(id, stateOf(call))
    for (const [index, answer] of answers.entries()) {
      if (!answer || answered.has(index)) continue
      answered.add(index)
      changes.push({ kind: 'answer', entry, index, answer, place: place() })
    }
    if (step.ids.every((_, index) => answered.has(index))) open.delete(entry.seq)
    const last = changes.at(-1)
    if (last) last.place = place()
    return changes
  }

  const tellEntries = async (entries: Entry[]): Promise<Change[]> => {
    const calls = await readCalls(entries.flatMap(callIdsOf))
    const changes: Change[] = []
    for (const entry of entries) {
      next = entry.seq + 1
      const ids = callIdsOf(entry)
      const step: Step = { entry, ids, told: new Map(), answered: new Set() }
      if (ids.length > 0) open.set(entry.seq, step)
      if (entry.seq >= history) {
        history = next
        changes.push({ kind: 'said', entry, place: place() })
      }
      const own = new Map(ids.flatMap(id => entryIn(calls, id)))
      if (ids.length > 0) changes.push(...(await tellStep(step, own)))
    }
    return changes
  }

  return {
    /**
     * What is new, in order, and the task as it is; undefined once the task is gone. Where there may
     * be `more`, look again at once.
     */
    look: async (): Promise<{ task: Task; changes: Change[]; more: boolean } | undefined> => {
      const steps = [...open.values()]
      const waited = steps.flatMap(({ ids, answered }) =>
        ids.filter((_, index) => !answered.has(index)),
      )
      const nextKey = historyKey(taskId, next)
      const found = await batchGet([
        taskKey(taskId),
        ...(isBehind ? [] : [nextKey]),
        ...waited.map(callKey),
      ])
      const task = found.get(Task, taskKey(taskId))
      if (!task) return undefined
      const changes: Change[] = []
      for (const step of steps) {
        const calls = step.ids.flatMap(id => found.get(ToolCall, callKey(id)) ?? [])
        changes.push(...(await tellStep(step, new Map(calls.map(call => [call.id, call])))))
      }
      const row = isBehind ? undefined : found.get(HistoryRow, nextKey)
      const entries = isBehind
        ? await readEntries(taskId, { from: next, limit: ENTRIES_PER_LOOK })
        : row
          ? [await entryOf(row)]
          : []
      if (entries.length > 0) changes.push(...(await tellEntries(entries)))
      const events = task.eventSeq > event ? await listEvents(taskId, { after: event }) : []
      for (const each of events) {
        event = each.seq
        changes.push({ kind: 'event', event: each, place: place() })
      }
      const seen = fingerprint(task)
      if (seen !== toldTask) changes.push({ kind: 'task', task, place: place() })
      toldTask = seen
      isBehind = entries.length === ENTRIES_PER_LOOK || events.length > 0
      return { task, changes, more: isBehind || entries.length > 0 }
    },
    place,
  }
}

const entryIn = <K, V>(map: ReadonlyMap<K, V>, key: K): [K, V][] => {
  const value = map.get(key)
  return value === undefined ? [] : [[key, value]]
}

/** What changes of a call while it is told of: a decision, a run, an end, its children's end. */
const stateOf = ({ status, digest, runs, result, answer }: ToolCall): string =>
  JSON.stringify([status, digest, runs, result !== undefined, answer !== undefined])

/** A task's row without what only its ticks are about. */
const fingerprint = ({
  leaseUntil: _lease,
  fence: _fence,
  claim: _claim,
  token: _token,
  ticks: _ticks,
  generation: _generation,
  wakeSeq: _wakeSeq,
  seenWakeSeq: _seen,
  ...rest
}: Task): string => JSON.stringify(rest)
