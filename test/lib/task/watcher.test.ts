import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { newId } from '../../../lib/core/ids.ts'
import {
  leaveSeats,
  MAX_WATCHERS,
  SEAT_SECONDS,
  type Seats,
  takeSeats,
} from '../../../lib/task/watcher.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'

useLocalTable()

const NOW = '2026-01-01T00:00:00.000Z'
const clock = clockAt(NOW)
const taken: Seats[] = []
const take = async (taskId = newId('task'), principalId = newId('user')) => {
  const seats = await takeSeats({ taskId, principalId }, clock)
  taken.push(seats)
  return seats
}
afterEach(async () => {
  clock.set(NOW)
  await Promise.all(taken.splice(0).map(leaveSeats))
})

const times = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work))

const refusal = async (work: Promise<unknown>): Promise<AppError> => {
  const error = await work.then(
    () => undefined,
    reason => reason,
  )
  expect(error).toBeInstanceOf(AppError)
  return error
}

describe('the seats of watchers', () => {
  it('are so many for one task, one principal and all, and not one more', async () => {
    const task = newId('task')
    for (let seat = 0; seat < MAX_WATCHERS.task; seat++) await take(task)
    const ofTask = await refusal(take(task))
    expect(ofTask).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      details: { retry_after_seconds: SEAT_SECONDS },
    })
    const user = newId('user')
    for (let seat = 0; seat < MAX_WATCHERS.principal; seat++) await take(undefined, user)
    expect((await refusal(take(undefined, user))).message).toContain('A principal has')
    while (taken.length < MAX_WATCHERS.all) await take()
    expect((await refusal(take())).message).toContain('this installation')
  })

  it('are never given twice, however many ask at once', async () => {
    const task = newId('task')
    const asked = await Promise.allSettled(
      Array.from({ length: MAX_WATCHERS.task * 2 }, () => take(task)),
    )
    const keys = taken.map(({ keys: [ofTask] }) => JSON.stringify(ofTask))
    expect(keys.length).toBeGreaterThan(0)
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.length).toBeLessThanOrEqual(MAX_WATCHERS.task)
    const codes = asked.flatMap(each => (each.status === 'rejected' ? each.reason.code : []))
    expect(new Set(codes)).toEqual(new Set(['TOO_MANY_REQUESTS']))
  })

  it('are free again where they were given back, and where their watcher has died', async () => {
    const task = newId('task')
    const [first] = await times(MAX_WATCHERS.task, () => take(task).catch(() => undefined))
    while (taken.length < MAX_WATCHERS.task) await take(task)
    await refusal(take(task))
    if (first) await leaveSeats(first)
    await take(task)
    clock.set(new Date(Date.parse(NOW) + (SEAT_SECONDS - 1) * 1_000).toISOString())
    expect((await refusal(take(task))).details).toEqual({ retry_after_seconds: 1 })
    clock.set(new Date(Date.parse(NOW) + SEAT_SECONDS * 1_000).toISOString())
    await take(task)
  })

  it('stay with whom they have passed to', async () => {
    const task = newId('task')
    const late = await take(task)
    clock.set(new Date(Date.parse(NOW) + SEAT_SECONDS * 1_000).toISOString())
    for (let seat = 0; seat < MAX_WATCHERS.task; seat++) await take(task)
    await leaveSeats(late)
    await refusal(take(task))
  })
})
