import fc from 'fast-check'
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

test.each([
  ['2026-07-01T12:00', 1_782_900_000],
  ['2026-07-01T12:00Z', 1_782_907_200],
  ['1969-12-31T23:59:59.250Z', -1],
])('the Unix time of %s is %d', async (date_time, epoch) => {
  const told = await run('epoch', { date_time })
  expect(told).toMatchObject({ epoch })
})

test('a Unix time is told in milliseconds too, and these are not rounded', async () => {
  expect(await run('epoch', { date_time: '1969-12-31T23:59:59.250Z' })).toMatchObject({
    epoch_milliseconds: -750,
  })
})

test('a Unix time is required to format one, and nowhere else', () => {
  const requires = Object.values(tool.operations).filter(
    ({ parameters }) => 'epoch' in parameters.shape && !parameters.shape.epoch?.isOptional(),
  )
  expect(requires.map(({ name }) => name)).toEqual(['format'])
})

const EPOCH = 1_792_845_296

test.each([
  [{ locale: 'de' }, 'Samstag, 24. Oktober 2026 um 14:34'],
  [{ locale: 'en-US' }, 'Saturday, October 24, 2026 at 2:34 PM'],
  [{ pattern: 'yyyy-MM-dd HH:mm:ss' }, '2026-10-24 14:34:56'],
  [{ pattern: 'd.M.yy, H:mm' }, '24.10.26, 14:34'],
  [{ pattern: "EEEE, d MMMM yyyy 'at' h:mm a" }, 'Saturday, 24 October 2026 at 2:34 PM'],
  [{ pattern: 'EEE d MMM', locale: 'fr' }, 'sam. 24 oct.'],
  [{ pattern: 'd MMMM', locale: 'ru' }, '24 октября'],
  [{ pattern: "YYYY-'W'ww xxx VV" }, '2026-W43 +02:00 Europe/Berlin'],
  [{ pattern: "h 'o''clock' ''" }, "2 o'clock '"],
])('%j writes a time as %s', async (how, text) => {
  expect(await run('format', { epoch: EPOCH, ...how })).toMatchObject({ written: text })
})

test('the other operations that tell a time write it out too', async () => {
  expect(await run('now', { pattern: 'HH' })).toMatchObject({ written: '14' })
  const input = { date_time: '2026-07-01T12:00', to: 'Asia/Tokyo', pattern: 'HH' }
  expect(await run('convert', input)).toMatchObject({ written: '19' })
})

test('a field that no pattern has, and what is no language, are named', async () => {
  await expect(run('format', { epoch: EPOCH, pattern: 'yyyy-qq' })).rejects.toThrow(
    'The pattern has "qq", which is none of its fields: yyyy yy MMMM',
  )
  await expect(run('format', { epoch: EPOCH, locale: 'not a language' })).rejects.toThrow(
    'Write it as de, en-GB or pt-BR',
  )
  const dots = (length: number) => run('format', { epoch: EPOCH, pattern: '.'.repeat(length) })
  expect(await dots(100)).toMatchObject({ written: '.'.repeat(100) })
  await expect(dots(101)).rejects.toThrow('100')
})

test('the calendar tells where a day stands, and its first and last seconds', async () => {
  expect(await run('calendar', { date_time: '2027-01-01T12:00' })).toEqual({
    date_time: '2027-01-01T12:00:00+01:00',
    weekday: 'Friday',
    time_zone: 'Europe/Berlin',
    epoch: 1_798_801_200,
    iso_week: '2026-W53',
    day_of_year: 1,
    quarter: 1,
    days_in_month: 31,
    leap_year: false,
    day: { start: '2027-01-01T00:00:00+01:00', end: '2027-01-01T23:59:59+01:00' },
    week: { start: '2026-12-28T00:00:00+01:00', end: '2027-01-03T23:59:59+01:00' },
    month: { start: '2027-01-01T00:00:00+01:00', end: '2027-01-31T23:59:59+01:00' },
    next_clock_change: {
      date_time: '2027-03-28T03:00:00+02:00',
      offset_before: '+01:00',
      offset_after: '+02:00',
    },
  })
})

test('a week in which the clocks change begins and ends at midnight', async () => {
  expect(await run('calendar', { date_time: '2026-10-25T12:00' })).toMatchObject({
    day: { start: '2026-10-25T00:00:00+02:00', end: '2026-10-25T23:59:59+01:00' },
    week: { start: '2026-10-19T00:00:00+02:00', end: '2026-10-25T23:59:59+01:00' },
    month: { start: '2026-10-01T00:00:00+02:00', end: '2026-10-31T23:59:59+01:00' },
  })
})

test('a day without a midnight begins when its clocks have gone forward', async () => {
  const input = { date_time: '2018-11-04T12:00', timezone: 'America/Sao_Paulo' }
  expect(await run('calendar', input)).toMatchObject({
    day: { start: '2018-11-04T01:00:00-02:00', end: '2018-11-04T23:59:59-02:00' },
  })
})

test('without a date the calendar is of now, and clocks that never change have no change', async () => {
  expect(await run('calendar', { timezone: '+05:30' })).toMatchObject({
    date_time: '2026-10-24T18:04:56+05:30',
    next_clock_change: null,
  })
})

const zonesOf = async (query: string) => {
  const { zones } = (await run('zones', { query })) as { zones: { time_zone: string }[] }
  return zones.map(({ time_zone }) => time_zone)
}

test('zones are found by city, by country, by code and by offset', async () => {
  expect(await zonesOf('new york')).toEqual(['America/New_York'])
  expect(await zonesOf('India')).toContain('Asia/Kolkata')
  expect(await zonesOf('CH')).toContain('Europe/Zurich')
  expect(await zonesOf('uk')).toContain('Europe/London')
  expect(await zonesOf('UTC+5:45')).toEqual(['Asia/Kathmandu'])
  expect(await zonesOf('-2:30')).toEqual(['America/St_Johns'])
})

test('a zone comes with its offset and its time', async () => {
  expect(await run('zones', { query: 'Tokyo' })).toEqual({
    zones: [{ time_zone: 'Asia/Tokyo', offset: '+09:00', date_time: '2026-10-24T21:34:56+09:00' }],
  })
})

test('of very many zones some are told, and how many more there are', async () => {
  const told = (await run('zones', { query: 'America' })) as { zones: unknown[]; more: number }
  expect(told.zones).toHaveLength(30)
  expect(told.more).toBeGreaterThan(50)
})

test('a place that is in no zone is said to be so', async () => {
  await expect(run('zones', { query: 'Atlantis' })).rejects.toThrow(
    'No time zone matches "Atlantis"',
  )
})

const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC']
const zone = fc.constantFrom(...ZONES)
/** From 1970 to 2069, with clocks that change on some of the days. */
const moment = fc.integer({ min: 0, max: 3_155_760_000 })
type Told = { date_time: string; epoch: number }

test('there and back between two zones is the same moment', async () => {
  await fc.assert(
    fc.asyncProperty(moment, zone, zone, async (epoch, from, to) => {
      const start = (await run('format', { epoch, timezone: from })) as Told
      const there = (await run('convert', { date_time: start.date_time, to })) as Told
      const back = (await run('convert', { date_time: there.date_time, to: from })) as Told
      expect(back).toEqual(start)
      expect(await run('epoch', { date_time: there.date_time })).toMatchObject({ epoch })
    }),
  )
})

test('a local time without an offset is what the clocks show, or is asked about', async () => {
  await fc.assert(
    fc.asyncProperty(moment, zone, async (epoch, timezone) => {
      const { date_time } = (await run('format', { epoch, timezone })) as Told
      const local = date_time.slice(0, 'yyyy-mm-ddThh:mm:ss'.length)
      const told = await run('epoch', { date_time: local, timezone }).catch(String)
      if (typeof told === 'string') expect(told).toContain('happens twice')
      else expect(told).toMatchObject({ date_time, epoch })
    }),
  )
})

test('what lies between two moments, added to the first, is the second', async () => {
  await fc.assert(
    fc.asyncProperty(moment, moment, zone, async (first, second, timezone) => {
      const at = (epoch: number) => run('format', { epoch, timezone }) as Promise<Told>
      const [start, end] = [await at(first), await at(second)]
      const input = { start: start.date_time, end: end.date_time, timezone }
      const between = (await run('difference', input)) as {
        duration: string
        total_seconds: number
      }
      expect(between.total_seconds).toBe(second - first)
      const { duration } = between
      expect(await run('add', { date_time: start.date_time, duration, timezone })).toEqual(end)
    }),
  )
})

test('every operation is a read, and says in a sentence what it will do', () => {
  for (const { effect } of Object.values(tool.operations)) expect(effect).toBe('read')
  const { now, format, convert, add, epoch, calendar, zones } = tool.operations
  expect(epoch?.describe({ date_time: 'x' })).toBe('Tell the Unix time of x')
  expect(calendar?.describe({})).toBe('Look up today in the calendar')
  expect(zones?.describe({ query: 'x' })).toBe('Look up the time zones of "x"')
  expect(now?.describe({})).toBe('Tell the time')
  expect(format?.describe({ epoch: 5, timezone: 'UTC' })).toBe('Format the Unix time 5 in UTC')
  expect(convert?.describe({ date_time: 'x', to: 'UTC' })).toBe('Convert x to UTC')
  expect(add?.describe({ date_time: 'x', duration: 'P1D' })).toBe('Add P1D to x')
})
