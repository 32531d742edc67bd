import { AsyncLocalStorage } from 'node:async_hooks'
import { errorKind } from './error-kind.ts'
import { AppError } from './errors.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogEntry = { time: string; level: LogLevel; event: string } & Record<string, unknown>
export type LogSink = (entry: LogEntry) => void

/** What the lines of one request or tick carry: its ids, and figures that add up while it runs. */
type Scope = { ids: Record<string, string>; figures: Record<string, number> }

const scopes = new AsyncLocalStorage<Scope>()

/** Runs `work` so that its log lines carry these ids; its figures are those of the whole request. */
export const withLogIds = <T>(add: Record<string, string>, work: () => T): T => {
  const outer = scopes.getStore()
  return scopes.run({ ids: { ...outer?.ids, ...add }, figures: outer?.figures ?? {} }, work)
}

/** Adds to a figure of the request that runs: what it has asked of a service, for its log line. */
export const addFigure = (name: string, by: number): void => {
  const figures = scopes.getStore()?.figures
  if (figures) figures[name] = (figures[name] ?? 0) + by
}

/** The figures of the request that runs. */
export const figures = (): Record<string, number> => ({ ...scopes.getStore()?.figures })

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
export const log = (level: LogLevel, event: string, fields: Record<string, unknown> = {}): void =>
  sink({ time: new Date().toISOString(), level, event, ...scopes.getStore()?.ids, ...fields })

/** An error as fields: one of ours with its text, any other by its kind and place alone. */
export const errorFields = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof AppError)) return errorKind(error)
  const cause = error.cause === undefined ? {} : { cause: errorKind(error.cause) }
  return { error: `AppError: ${error.message}`, code: error.code, ...cause }
}
