import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { setLogSink } from '../../../lib/core/log.ts'
import { startScheduler } from '../../../lib/local/scheduler.ts'

/** A rate of so many milliseconds; a real one is in whole minutes. */
const everyMs = (milliseconds: number) => milliseconds / 60_000

const logged: Record<string, unknown>[] = []
setLogSink(entry => logged.push(entry))
let close = () => {}
afterEach(() => close())

test('each function is invoked at its rate, first after one period, with the schedule event', async () => {
  const times: Record<string, number[]> = { fast: [], slow: [] }
  const events: unknown[] = []
  const startedAt = Date.now()
  ;({ close } = startScheduler({
    schedules: [
      { name: 'sweep', rateMinutes: everyMs(40), functionName: 'fast' },
      { name: 'tidy', rateMinutes: everyMs(150), functionName: 'slow' },
    ],
    invoke: async (name, event) => {
      times[name]?.push(Date.now() - startedAt)
      events.push(event)
      return {}
    },
  }))
  await vi.waitFor(() => {
    expect(times.slow?.length).toBeGreaterThan(0)
    expect(times.fast?.length).toBeGreaterThan(1)
  })
  expect(times.fast?.[0]).toBeGreaterThanOrEqual(38)
  expect(times.slow?.[0]).toBeGreaterThanOrEqual(148)
  expect(events[0]).toMatchObject({
    source: 'aws.scheduler',
    resources: ['arn:aws:scheduler:us-east-1:000000000000:schedule/default/sweep'],
  })
})

test('a run that takes longer than its period never overlaps itself', async () => {
  let running = 0
  let most = 0
  const invoke = vi.fn(async () => {
    most = Math.max(most, ++running)
    await sleep(50)
    running--
    return {}
  })
  const schedules = [{ name: 'sweep', rateMinutes: everyMs(10), functionName: 'f' }]
  ;({ close } = startScheduler({ schedules, invoke }))
  await vi.waitFor(() => expect(invoke.mock.calls.length).toBeGreaterThan(3))
  expect(most).toBe(1)
})

test('a run that fails is logged, and the next one comes', async () => {
  let calls = 0
  const invoke = async () => {
    calls++
    if (calls === 1) throw new Error('broken')
    return { functionError: 'Unhandled' }
  }
  const schedules = [{ name: 'sweep', rateMinutes: everyMs(10), functionName: 'f' }]
  ;({ close } = startScheduler({ schedules, invoke }))
  await vi.waitFor(() => expect(calls).toBeGreaterThan(2))
  expect(logged).toContainEqual(
    expect.objectContaining({ event: 'schedule-failed', error: 'Error' }),
  )
  expect(logged).toContainEqual(expect.objectContaining({ functionError: 'Unhandled' }))
})

test('after close nothing is invoked any more', async () => {
  const invoke = vi.fn(async () => ({}))
  const schedules = [{ name: 'sweep', rateMinutes: everyMs(20), functionName: 'f' }]
  startScheduler({ schedules, invoke }).close()
  await sleep(60)
  expect(invoke).not.toHaveBeenCalled()
})
