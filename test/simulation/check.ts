import { unmarshall } from '@aws-sdk/util-dynamodb'
import { ENDED, type ToolCall } from '../../lib/call/tool-call.ts'
import type { Ledger } from '../../lib/task/ledger.ts'
import { type Task, TERMINAL } from '../../lib/task/task.ts'
import { short } from './label.ts'
import { type Reached, reachedBy } from './reached.ts'
import { OWN_TEXT, type Run } from './run.ts'

type Row = { pk: string; sk: string; gsi3pk?: string } & Record<string, unknown>
type HistoryRow = Row & { role: string; usage?: { inputTokens: number; outputTokens: number } }

/** Holds what is left at the end to what was promised; tells what was reached. */
export const checkEnd = (run: Run): Reached => {
  const rows = run.table.items().map(item => unmarshall(item) as Row)
  const tasks = rows.filter(({ sk }) => sk === 'task') as (Row & Task)[]
  const calls = rows.filter(({ sk }) => sk === 'call') as (Row & ToolCall)[]
  checkTasks(run, tasks)
  checkLists(run, rows, calls)
  checkCancelled(run, tasks)
  checkCalls(run, calls, tasks)
  checkEffects(run, calls)
  checkHistory(run, rows, tasks)
  checkSpending(run, rows, tasks)
  for (const { name, state } of run.machine.running())
    run.violate(`the execution ${short(name)} is still in ${state}`)
  return reachedBy(tasks, calls)
}

const checkTasks = ({ violate }: Run, tasks: Task[]): void => {
  for (const { id, status, leaseUntil } of tasks) {
    if (!TERMINAL.includes(status)) violate(`${short(id)} is left ${status}`)
    else if (leaseUntil !== undefined) violate(`${short(id)} is ${status}, and still held`)
  }
}

/** Nothing is left that anyone would wait for, or look after. */
const checkLists = ({ violate }: Run, rows: Row[], calls: ToolCall[]): void => {
  // A spawn that died half-way keeps its own marker, where its task ended before it was run again.
  const unended = new Set<string>(
    calls.flatMap(({ id, status }) => (status === 'STARTED' ? id : [])),
  )
  const isOfDead = (sk: string) => sk.endsWith('#spawning') && unended.has(sk.split('#')[0] ?? '')
  for (const { pk, sk, gsi3pk } of rows) {
    if (pk.startsWith('open#') && !isOfDead(sk))
      violate(`the marker ${short(`${pk}/${sk}`)} is left`)
    if (gsi3pk !== undefined) violate(`${short(pk)} is still in the list of what is due`)
  }
}

/**
 * Nothing below a cancelled task comes to another end after it, and once a cancelling was answered no
 * model is asked for it any more: what a ledger had let through before may still be.
 */
const checkCancelled = ({ asked, people, violate }: Run, tasks: Task[]): void => {
  const below = (id: string) => tasks.filter(task => (task.lineage as string[]).includes(id))
  for (const { id, endedAt = '' } of tasks.filter(({ status }) => status === 'CANCELLED'))
    for (const task of below(id))
      if (task.status !== 'CANCELLED' && (task.endedAt ?? '') > endedAt)
        violate(
          `${short(task.id)} is ${task.status}, and ${short(id)} above it was cancelled before`,
        )
  for (const { id, at } of people.cancelled) {
    const covered = new Set<string>([id, ...below(id).map(task => task.id)])
    if (asked.some(({ taskId, begunAt }) => covered.has(taskId) && begunAt > at))
      violate(`a model was asked for ${short(id)} or below it after that was cancelled`)
  }
}

const checkCalls = (run: Run, calls: (Row & ToolCall)[], tasks: Task[]): void => {
  const ended = new Set(tasks.filter(({ status }) => TERMINAL.includes(status)).map(({ id }) => id))
  for (const { id, status, taskId, effect, result } of calls) {
    if (ENDED.includes(status)) {
      if (result === undefined) run.violate(`${short(id)} is ${status} without a result`)
      continue
    }
    // Nobody waits for it any more: whoever looks at it, past its deadline, is told.
    const isAbandoned = taskId === undefined ? effect === 'read' : ended.has(taskId)
    if (status === 'STARTED' && isAbandoned) continue
    run.violate(`${short(id)} is left ${status}`)
  }
}

/** Each once at most, and what a person was asked about only as that person approved it. */
const checkEffects = ({ effects, people, violate }: Run, calls: ToolCall[]): void => {
  const once = effects.filter(({ effect }) => effect === 'once')
  // What a model made up as nonsense may be said twice; all other texts are said once.
  const said = once.filter(({ text }) => text.includes(OWN_TEXT))
  for (const values of [once.map(({ callId }) => callId), said.map(({ text }) => text)])
    for (const value of new Set(values.filter((value, index) => values.indexOf(value) !== index)))
      violate(`${short(value)} may run once, and ran again`)
  for (const { callId, operation, text, at } of effects.filter(({ operation }) =>
    operation.startsWith('gated'),
  )) {
    const isApproved = people.approvals.some(
      approval => approval.callId === callId && approval.text === text && approval.at <= at,
    )
    if (!isApproved) violate(`${operation} ${text} of ${short(callId)} ran, and nobody approved it`)
    const status = calls.find(({ id }) => id === callId)?.status
    if (status === 'REJECTED' || status === 'EXPIRED')
      violate(`${short(callId)} is ${status}, and it ran`)
  }
}

const checkHistory = ({ violate }: Run, rows: Row[], tasks: Task[]): void => {
  for (const { id } of tasks) {
    const places = rows
      .filter(({ pk, sk }) => pk === id && sk.startsWith('history#'))
      .map(({ seq }) => Number(seq))
      .sort((one, other) => one - other)
    if (places.some((seq, index) => seq !== index))
      violate(`the history of ${short(id)} has a gap: ${places}`)
  }
}

/**
 * The ledger holds exactly what models reported. Only where a tick has died between an answer and its
 * booking, which leaves the request's mark, it holds less: at least what stands in the histories.
 * None is asked that the ledger was not told of before.
 */
const checkSpending = ({ spent, asked, violate }: Run, rows: Row[], tasks: Task[]): void => {
  for (const { id } of tasks.filter(({ id, rootId }) => id === rootId)) {
    const tree = new Set<string>(tasks.filter(({ rootId }) => rootId === id).map(({ id }) => id))
    const ledger = rows.find(({ pk }) => pk === `ledger#${id}`) as unknown as Ledger | undefined
    if (!ledger) {
      violate(`${short(id)} has no ledger`)
      continue
    }
    const kept = (rows as HistoryRow[]).filter(
      ({ pk, role, usage }) => tree.has(pk) && role === 'assistant' && usage,
    )
    const hasMarks = Object.keys(ledger).some(name => name.startsWith('open#'))
    for (const what of ['inputTokens', 'outputTokens'] as const) {
      const most = spent
        .filter(({ taskId }) => tree.has(taskId))
        .reduce((sum, answer) => sum + answer[what], 0)
      const least = hasMarks ? kept.reduce((sum, { usage }) => sum + (usage?.[what] ?? 0), 0) : most
      if (ledger[what] < least || ledger[what] > most)
        violate(`the ledger of ${short(id)} has ${ledger[what]} ${what}, not ${least} to ${most}`)
    }
    const made = asked.filter(({ taskId }) => tree.has(taskId)).length
    if (ledger.requests < made)
      violate(`the ledger of ${short(id)} has ${ledger.requests} requests of ${made}`)
  }
}
