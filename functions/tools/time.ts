import type { Temporal } from 'temporal-polyfill'
import * as z from 'zod'
import { AppError } from '../../lib/core/errors.ts'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'

/** The last second of the year 9999: a larger number is most likely in milliseconds. */
const MAX_EPOCH_SECONDS = 253_402_300_799
const MAX_SUGGESTED_ZONES = 5

const timezone = z
  .string()
  .optional()
  .describe(
    'IANA time zone such as Europe/Berlin, or an offset such as +02:00. ' +
      'Leave it out for the configured one.',
  )
const dateTime = z
  .string()
  .describe(
    'ISO 8601 date and time. With an offset or Z (2026-10-25T09:30:00+01:00) it is exact; ' +
      'without (2026-10-25T09:30) it is what the clocks of the time zone show.',
  )

export const tool = defineTool({
  name: 'time',
  description: 'Tells the time, converts it between time zones and calculates with dates.',
  displayName: 'Time',
  category: 'general',
  icon: 'clock',
  settings: {
    timezone: setting.text({ label: 'Time zone', default: 'UTC', exposeToLlm: true }),
  },
  operations: {
    now: {
      description: 'The current date and time.',
      parameters: z.object({ timezone }),
      effect: 'read',
      describe: ({ timezone }) => `Tell the time${timezone ? ` in ${timezone}` : ''}`,
      execute: async ({ parameters, settings, clock }) => {
        const zone = parameters.timezone ?? settings.timezone
        return shown(await at(clock.now().getTime(), zone))
      },
    },
    format: {
      description: 'A Unix time as date and time.',
      parameters: z.object({
        timezone,
        epoch: z.int().describe('Unix time in seconds; may be negative.'),
      }),
      effect: 'read',
      describe: ({ epoch, timezone }) =>
        `Format the Unix time ${epoch}${timezone ? ` in ${timezone}` : ''}`,
      execute: async ({ parameters, settings }) => {
        const { epoch } = parameters
        if (Math.abs(epoch) > MAX_EPOCH_SECONDS)
          throw invalid(
            `The Unix time ${epoch} is beyond the year 9999. It must be in seconds; ` +
              'divide milliseconds by 1000.',
          )
        return shown(await at(epoch * 1000, parameters.timezone ?? settings.timezone))
      },
    },
    convert: {
      description: 'A date and time of one time zone in another one.',
      parameters: z.object({
        date_time: dateTime,
        from: timezone.describe(
          'Time zone of a date_time without offset; the configured one if left out.',
        ),
        to: z.string().describe('Time zone to convert to, such as America/New_York.'),
      }),
      effect: 'read',
      describe: ({ date_time, from, to }) =>
        `Convert ${date_time}${from ? ` from ${from}` : ''} to ${to}`,
      execute: async ({ parameters: { date_time, from, to }, settings }) => {
        const moment = await parse(date_time, from ?? settings.timezone)
        return shown(await at(moment.epochMilliseconds, to))
      },
    },
    add: {
      description:
        'A date and time plus a duration. Days, months and years follow the calendar and keep ' +
        'the time of day when clocks change; hours, minutes and seconds are exact.',
      parameters: z.object({
        date_time: dateTime,
        timezone,
        duration: z
          .string()
          .describe('ISO 8601 duration: P1D, P2W, P1Y6M, PT90M; with a minus it goes back: -P1D.'),
      }),
      effect: 'read',
      describe: ({ date_time, duration }) => `Add ${duration} to ${date_time}`,
      execute: async ({ parameters, settings }) => {
        const { date_time, duration } = parameters
        const zone = parameters.timezone ?? settings.timezone
        return shown(addTo(await parse(date_time, zone), await parseDuration(duration)))
      },
    },
    difference: {
      description: 'How long it is from one date and time to another one.',
      parameters: z.object({ start: dateTime, end: dateTime, timezone }),
      effect: 'read',
      describe: ({ start, end }) => `Tell how long it is from ${start} to ${end}`,
      execute: async ({ parameters, settings }) => {
        const zone = parameters.timezone ?? settings.timezone
        const start = await parse(parameters.start, zone)
        const end = await parse(parameters.end, zone)
        return {
          duration: start.until(end, { largestUnit: 'years' }).toString(),
          total_seconds: (end.epochMilliseconds - start.epochMilliseconds) / 1000,
        }
      },
    },
  },
})

export const handler = serve(tool)

/** A moment as the model reads it, the weekday with it: models guess weekdays wrong. */
const shown = (moment: Temporal.ZonedDateTime) => ({
  date_time: moment.toString({ timeZoneName: 'never', smallestUnit: 'second' }),
  weekday: moment.toLocaleString('en', { weekday: 'long' }),
  time_zone: moment.timeZoneId,
  epoch: Math.floor(moment.epochMilliseconds / 1000),
})

/** The library takes its time to load, so only an operation that runs loads it. */
const loadTemporal = async () => (await import('temporal-polyfill')).Temporal

const at = async (epochMilliseconds: number, zone: string): Promise<Temporal.ZonedDateTime> => {
  const { Instant } = await loadTemporal()
  const instant = Instant.fromEpochMilliseconds(epochMilliseconds)
  return attempt(() => instant.toZonedDateTimeISO(zone), unknownZone(zone))
}

/** A model's date and time; a local time that a change of clocks skips or repeats is an error. */
const parse = async (text: string, zone: string): Promise<Temporal.ZonedDateTime> => {
  const { Instant, PlainDateTime } = await loadTemporal()
  // Temporal would ignore a zone in brackets beside the one that we pass.
  const plain = text.includes('[') ? undefined : tryTo(() => PlainDateTime.from(text))
  const exact = tryTo(() => Instant.from(text))
  if (exact && !text.includes('[')) return at(exact.epochMilliseconds, zone)
  if (!plain)
    throw invalid(
      `"${text}" is no date and time that exists. Write it as 2026-10-25T09:30:00, with an ` +
        'offset such as +01:00 or Z where it is exact.',
    )
  await at(0, zone)
  const local = (disambiguation: 'earlier' | 'later') =>
    attempt(() => plain.toZonedDateTime(zone, { disambiguation }), beyond(text))
  const [earlier, later] = [local('earlier'), local('later')]
  if (earlier.equals(later)) return earlier
  const [first, second] = [shown(earlier).date_time, shown(later).date_time]
  throw invalid(
    earlier.toPlainDateTime().equals(plain)
      ? `${text} happens twice in ${zone}, since the clocks go back. Say which: ${first} or ${second}.`
      : `${text} does not exist in ${zone}, since the clocks go forward. Say which: ${first} or ${second}.`,
  )
}

const parseDuration = async (text: string): Promise<Temporal.Duration> => {
  const { Duration } = await loadTemporal()
  return attempt(
    () => Duration.from(text),
    `"${text}" is no ISO 8601 duration. Write it as P1D, P1M, PT90M or -P2W.`,
  )
}

const addTo = (moment: Temporal.ZonedDateTime, duration: Temporal.Duration) =>
  attempt(() => moment.add(duration), beyond(`${moment.toString()} plus ${duration.toString()}`))

const beyond = (what: string): string => `${what} is beyond the dates that can be calculated.`

const unknownZone = (zone: string): string => {
  const part = zone.trim().replaceAll(' ', '_').toLowerCase()
  const similar = Intl.supportedValuesOf('timeZone')
    .filter(name => part !== '' && name.toLowerCase().includes(part))
    .slice(0, MAX_SUGGESTED_ZONES)
  const hint = similar.length > 0 ? ` Did you mean ${similar.join(' or ')}?` : ''
  return `There is no time zone "${zone}".${hint} Use an IANA name such as Europe/Berlin, or an offset such as +02:00.`
}

const tryTo = <T>(make: () => T): T | undefined => {
  try {
    return make()
  } catch {
    // What Temporal can't read is said in words of our own, which tell what to write instead.
    return undefined
  }
}

const attempt = <T>(make: () => T, message: string): T => {
  const value = tryTo(make)
  if (value === undefined) throw invalid(message)
  return value
}

const invalid = (message: string) => new AppError('VALIDATION_ERROR', message)
