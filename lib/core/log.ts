import { AsyncLocalStorage } from 'node:async_hooks'
import { optionalConfig } from './config.ts'
import { errorKind } from './error-kind.ts'
import { AppError } from './errors.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export type LogEntry = { time: string; level: LogLevel; event: string } & Record<string, unknown>
export type LogSink = (entry: LogEntry) => void

/** What belongs to a function's whole run, however many tasks and calls it looks at. */
export type Invocation = {
  /** Figures that add up while it runs. */
  figures: Record<string, number>
  /** What is still to be done before it returns. */
  endings: (() => Promise<void>)[]
}

/** What the lines of one request or tick carry, and what all within one run of a function share. */
type Scope = { ids: Record<string, string | number>; invocation: Invocation }

const scopes = new AsyncLocalStorage<Scope>()

/** Ids as a line has them: `undefined` adds none. */
export type LogIds = Record<string, string | number | undefined>

/** Runs `work` so that its log lines carry these ids; its figures are those of the whole request. */
export const withLogIds = <T>(add: LogIds, work: () => T): T => {
  const outer = scopes.getStore()
  const scope: Scope = {
    ids: { ...outer?.ids },
    invocation: outer?.invocation ?? { figures: {}, endings: [] },
  }
  return scopes.run(scope, () => {
    addLogIds(add)
    return work()
  })
}

/** Adds ids that became known on the way to all further lines of what runs within `withLogIds`. */
export const addLogIds = (add: LogIds): void => {
  const ids = scopes.getStore()?.ids
  if (!ids) return
  for (const [name, id] of Object.entries(add)) if (id !== undefined) ids[name] = id
}

/** The run of a function that goes on, if one does. */
export const invocation = (): Invocation | undefined => scopes.getStore()?.invocation

/** Does what is still to be done before the function returns; none of it may throw. */
export const endInvocation = async (): Promise<void> => {
  for (const ending of invocation()?.endings.splice(0) ?? []) await ending()
}

/** Adds to a figure of the request that runs: what it has asked of a service, for its log line. */
export const addFigure = (name: string, by: number): void => {
  const figures = invocation()?.figures
  if (figures) figures[name] = (figures[name] ?? 0) + by
}

/** The figures of the request that runs. */
export const figures = (): Record<string, number> => ({ ...invocation()?.figures })

/** One JSON object a line, as CloudWatch reads it. */
const toStandardOutput: LogSink = entry => {
  process.stdout.write(`${JSON.stringify(entry)}\n`)
}

let sink: LogSink = toStandardOutput

/** Sends log entries elsewhere (the local runner prints them for people); returns the old sink. */
export const setLogSink = (next: LogSink): LogSink => {
  const previous = sink
  sink = next
  return previous
}

/**
 * Logs an event, named noun-verb (`task-completed`), with fields that must hold no content of
 * users, no argument, no setting and no URL with a query: ids, codes, counts and durations.
 */
export const log = (level: LogLevel, event: string, fields: Record<string, unknown> = {}): void => {
  if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(leastLevel())) return
  const line = { time: new Date().toISOString(), level, event }
  // The first, so that they stand there, and the last: no field takes their names away.
  sink({ ...line, ...scopes.getStore()?.ids, ...fields, ...line })
}

/** `info`, unless `ESPALIER_LOG_LEVEL` names another one; a word that is none is passed over. */
const leastLevel = (): LogLevel =>
  LOG_LEVELS.find(level => level === optionalConfig('logLevel')) ?? 'info'

/** An error as fields: one of ours with its text, any other by its kind and place alone. */
export const errorFields = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof AppError)) return errorKind(error)
  const cause = error.cause === undefined ? {} : { cause: errorKind(error.cause) }
  return { error: `AppError: ${error.message}`, code: error.code, ...cause }
}
