import { resolvePath, templateOf } from './json-path.ts'
import type { Random } from './random.ts'

export type Retrier = {
  ErrorEquals: string[]
  IntervalSeconds?: number
  BackoffRate?: number
  MaxAttempts?: number
  MaxDelaySeconds?: number
  JitterStrategy?: string
}
type Catcher = { ErrorEquals: string[]; ResultPath?: string | null; Next: string }
type Choice = { Variable: string; StringEquals?: string; Next: string } & Record<string, unknown>

/** A state as it stands in the definition: this walks the real one, whatever becomes of it. */
export type State = {
  Type: string
  Resource?: string
  Parameters?: unknown
  ResultSelector?: unknown
  ResultPath?: string | null
  TimeoutSeconds?: number
  TimeoutSecondsPath?: string
  TimestampPath?: string
  SecondsPath?: string
  Seconds?: number
  Retry?: Retrier[]
  Catch?: Catcher[]
  Choices?: Choice[]
  Default?: string
  Next?: string
  End?: boolean
  Error?: string
}
export type Definition = { StartAt: string; States: Record<string, State> }

/** An error by its name, as the states of a machine know them. */
export class StateError extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

const RETRY_DEFAULTS = { IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 3 }

/** The state that follows. */
export const nextOf = (state: State): string => {
  if (state.Next === undefined)
    throw new Error('The simulation knows no End but Succeed: teach it.')
  return state.Next
}

/** A template filled in from a state's input. */
export const fill = (template: unknown, data: unknown, token = ''): unknown => {
  const filled = templateOf(template, data, { Task: { Token: token } })
  if ('missing' in filled) throw new StateError('States.Runtime', `nothing at ${filled.missing}`)
  return filled.value
}

/** What a state makes of its task's result. */
export const select = ({ ResultSelector }: State, result: unknown): unknown =>
  ResultSelector === undefined ? result : fill(ResultSelector, result)

/** How long to wait before another try, in milliseconds; `tried` counts those before. */
export const delayOf = (retrier: Retrier, tried: number, random: Random): number => {
  const { IntervalSeconds, BackoffRate } = { ...RETRY_DEFAULTS, ...retrier }
  const seconds = Math.min(IntervalSeconds * BackoffRate ** tried, retrier.MaxDelaySeconds ?? 1e9)
  return seconds * 1_000 * (retrier.JitterStrategy === 'FULL' ? random.next() : 1)
}

/** How often a retrier tries again. */
export const attemptsOf = ({ MaxAttempts = RETRY_DEFAULTS.MaxAttempts }: Retrier): number =>
  MaxAttempts

/** How long a task may take, in milliseconds. */
export const timeoutMs = (state: State, data: unknown): number => {
  const seconds = state.TimeoutSecondsPath
    ? Number(found(data, state.TimeoutSecondsPath))
    : (state.TimeoutSeconds ?? 99_999_999)
  if (!(seconds > 0)) throw new StateError('States.Runtime', 'a timeout must be positive')
  return seconds * 1_000
}

/** How long a state waits, in milliseconds. */
export const waitMs = (state: State, data: unknown, now: number): number => {
  if (state.TimestampPath) {
    const until = Date.parse(String(found(data, state.TimestampPath)))
    if (Number.isNaN(until)) throw new StateError('States.Runtime', 'no timestamp')
    return until - now
  }
  const seconds = state.SecondsPath ? Number(found(data, state.SecondsPath)) : (state.Seconds ?? 0)
  return seconds * 1_000
}

const found = (data: unknown, path: string): unknown => {
  const value = resolvePath(data, path)
  if (value === undefined) throw new StateError('States.Runtime', `nothing at ${path}`)
  return value
}

/** The state that a choice leads to. */
export const choose = (state: State, data: unknown): string => {
  for (const { Variable, StringEquals, Next, ...others } of state.Choices ?? []) {
    if (Object.keys(others).length > 0 || StringEquals === undefined)
      throw new Error('The simulation knows only StringEquals: teach it.')
    if (found(data, Variable) === StringEquals) return Next
  }
  if (state.Default === undefined) throw new StateError('States.NoChoiceMatched', '')
  return state.Default
}

/** Whether an error is one of those that a retrier or a catcher names. */
export const matches = (names: string[], { name }: Error): boolean =>
  names.some(
    wanted =>
      wanted === name ||
      wanted === 'States.ALL' ||
      (wanted === 'States.TaskFailed' && name !== 'States.Timeout'),
  )
