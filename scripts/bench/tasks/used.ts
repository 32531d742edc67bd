import type { Requests } from './requests.ts'

/** What something has used. */
export type Used = {
  requests: number
  /** For how long DynamoDB was waited for, in milliseconds. */
  waitedMs: number
  readUnits: number
  writeUnits: number
  stateTransitions: number
  invocations: number
  /** Of Lambda, at the memory that each function has and the time that it took here. */
  gbSeconds: number
  s3Requests: number
  /** The DynamoDB requests, by command. */
  byCommand: Requests
}

/** What was used in between, or by one thing more than by another. */
export const less = (more: Used, than: Used): Used => ({
  ...(mapNumbers(more, (value, name) => value - than[name]) as Omit<Used, 'byCommand'>),
  byCommand: Object.fromEntries(
    Object.entries(more.byCommand)
      .map(([name, count]) => [name, count - (than.byCommand[name] ?? 0)] as const)
      .filter(([, count]) => count !== 0),
  ),
})

export const plus = (one: Used, other: Used): Used => less(one, each(other, -1))

/** The same for each of so many. */
export const each = (used: Used, count: number): Used => ({
  ...(mapNumbers(used, value => value / count) as Omit<Used, 'byCommand'>),
  byCommand: Object.fromEntries(
    Object.entries(used.byCommand).map(([name, value]) => [name, value / count]),
  ),
})

type Counted = Exclude<keyof Used, 'byCommand'>

const mapNumbers = (used: Used, change: (value: number, name: Counted) => number) => {
  const { byCommand: _, ...numbers } = used
  return Object.fromEntries(
    Object.entries(numbers).map(([name, value]) => [name, change(value, name as Counted)]),
  )
}
