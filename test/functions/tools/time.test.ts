import { expect, test } from 'vitest'
import { tool } from '../../../functions/tools/time.ts'
import { run as runTool } from './run.ts'

const run = (operation: string, input: Record<string, unknown>, timezone = 'Europe/Berlin') =>
  runTool(tool, operation, input, { settings: { timezone } })

test('the time is told in the configured zone, with weekday and Unix time', async () => {
  expect(await run('now', {})).toEqual({
    date_time: '2026-10-24T14:34:56+02:00',
    weekday: 'Saturday',
    time_zone: 'Europe/Berlin',
    epoch: 1_792_845_296,
  })
})

test('a zone in the arguments wins over the configured one, and offsets are zones too', async () => {
  const told = await run('now', { timezone: 'America/New_York' })
  expect(told).toMatchObject({ date_time: '2026-10-24T08:34:56-04:00' })
  expect(await run('now', { timezone: '+05:30' })).toMatchObject({
    date_time: '2026-10-24T18:04:56+05:30',
  })
})

test('an unknown zone is answered with the zones that it may mean', async () => {
  await expect(run('now', { timezone: 'new york' })).rejects.toThrow(
    'There is no time zone "new york". Did you mean America/New_York?',
  )
  await expect(run('now', {}, 'Nowhere')).rejects.toThrow('There is no time zone "Nowhere".')
})

test.each([
  [0, '1970-01-01T01:00:00+01:00'],
  [-1, '1970-01-01T00:59:59+01:00'],
  [253_402_300_799, '+010000-01-01T00:59:59+01:00'],
])('the Unix time %d reads %s', async (epoch, date_time) => {
  expect(await run('format', { epoch })).toMatchObject({ date_time, epoch })
})

test('a Unix time in milliseconds is noticed', async () => {
  await expect(run('format', { epoch: 1_760_000_000_000 })).rejects.toThrow(
    'It must be in seconds; divide milliseconds by 1000.',
  )
})

test.each([
  ['2026-07-01T12:00', undefined, '2026-07-01T06:00:00-04:00'],
  ['2026-07-01T12:00', 'Asia/Tokyo', '2026-06-30T23:00:00-04:00'],
  ['2026-07-01T12:00:00Z', 'Asia/Tokyo', '2026-07-01T08:00:00-04:00'],
  ['2026-10-25T02:30:00+01:00', undefined, '2026-10-24T21:30:00-04:00'],
])('%s of %s is %s in New York', async (date_time, from, converted) => {
  const input = { date_time, to: 'America/New_York', ...(from ? { from } : {}) }
  expect(await run('convert', input)).toMatchObject({ date_time: converted })
})

test('a local time that happens twice is answered with both', async () => {
  await expect(run('convert', { date_time: '2026-10-25T02:30', to: 'UTC' })).rejects.toThrow(
    /happens twice in Europe\/Berlin.*2026-10-25T02:30:00\+02:00 or 2026-10-25T02:30:00\+01:00/,
  )
})

test('a local time that is skipped is answered with the times around it', async () => {
  await expect(run('convert', { date_time: '2026-03-29T02:30', to: 'UTC' })).rejects.toThrow(
    /does not exist in Europe\/Berlin.*2026-03-29T01:30:00\+01:00 or 2026-03-29T03:30:00\+02:00/,
  )
})

test.each([
  'tomorrow',
  '',
  '2026-02-30T10:00',
  '2026-13-01',
  '25:00',
  '2026-01-01T10:00[Asia/Tokyo]',
])('%j is answered with how to write a date', async date_time => {
  await expect(run('convert', { date_time, to: 'UTC' })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining('Write it as 2026-10-25T09:30:00'),
  })
})

test.each([
  [
    'a day keeps the time of day when clocks change',
    '2026-10-24T12:00',
    'P1D',
    '2026-10-25T12:00:00+01:00',
  ],
  ['24 hours are exact', '2026-10-24T12:00', 'PT24H', '2026-10-25T11:00:00+01:00'],
  ['a month ends with its last day', '2026-01-31T12:00', 'P1M', '2026-02-28T12:00:00+01:00'],
  ['a leap year has its day', '2028-02-28T12:00', 'P1D', '2028-02-29T12:00:00+01:00'],
  ['a minus goes back', '2026-03-01T12:00', '-P1W', '2026-02-22T12:00:00+01:00'],
  ['an end that is skipped moves on', '2026-03-28T02:30', 'P1D', '2026-03-29T03:30:00+02:00'],
])('%s', async (_, date_time, duration, sum) => {
  expect(await run('add', { date_time, duration })).toMatchObject({ date_time: sum })
})

test('a duration that is none, or leads beyond all dates, is said to be so', async () => {
  const date_time = '2026-01-01T12:00'
  await expect(run('add', { date_time, duration: '1 day' })).rejects.toThrow('Write it as P1D')
  await expect(run('add', { date_time, duration: 'P400000Y' })).rejects.toThrow('beyond the dates')
})

test('a difference counts in calendar units and in seconds', async () => {
  const input = { start: '2026-03-28T12:00', end: '2026-03-29T12:00' }
  expect(await run('difference', input)).toEqual({ duration: 'P1D', total_seconds: 23 * 3600 })
  const back = { start: input.end, end: input.start }
  expect(await run('difference', back)).toMatchObject({ total_seconds: -23 * 3600 })
})

test('every operation is a read, and says in a sentence what it will do', () => {
  for (const { effect } of Object.values(tool.operations)) expect(effect).toBe('read')
  const { now, format, convert, add } = tool.operations
  expect(now?.describe({})).toBe('Tell the time')
  expect(format?.describe({ epoch: 5, timezone: 'UTC' })).toBe('Format the Unix time 5 in UTC')
  expect(convert?.describe({ date_time: 'x', to: 'UTC' })).toBe('Convert x to UTC')
  expect(add?.describe({ date_time: 'x', duration: 'P1D' })).toBe('Add P1D to x')
})
