import * as z from 'zod'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { addTo, at, invalid, parse, parseDuration, shown } from './time/moment.ts'
import { formatMoment, MAX_PATTERN_CHARS, PATTERN_FIELDS } from './time/pattern.ts'

/** The last second of the year 9999: a larger number is most likely in milliseconds. */
const MAX_EPOCH_SECONDS = 253_402_300_799

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
const formatting = {
  locale: z
    .string()
    .optional()
    .describe('Language to write the time out in as well, as a tag: de, en-GB, pt-BR.'),
  pattern: z
    .string()
    .max(MAX_PATTERN_CHARS)
    .optional()
    .describe(
      `Pattern to write the time out by as well, such as EEEE, d MMMM yyyy 'at' HH:mm. ` +
        `Fields: ${PATTERN_FIELDS}.`,
    ),
}

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
      parameters: z.object({ timezone, ...formatting }),
      effect: 'read',
      describe: ({ timezone }) => `Tell the time${timezone ? ` in ${timezone}` : ''}`,
      execute: async ({ parameters, settings, clock }) => {
        const zone = parameters.timezone ?? settings.timezone
        return written(await at(clock.now().getTime(), zone), parameters)
      },
    },
    format: {
      description: 'A Unix time as date and time.',
      parameters: z.object({
        timezone,
        epoch: z.int().describe('Unix time in seconds; may be negative.'),
        ...formatting,
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
        const zone = parameters.timezone ?? settings.timezone
        return written(await at(epoch * 1000, zone), parameters)
      },
    },
    epoch: {
      description: 'The Unix time of a date and time, in seconds and in milliseconds.',
      parameters: z.object({ date_time: dateTime, timezone }),
      effect: 'read',
      describe: ({ date_time }) => `Tell the Unix time of ${date_time}`,
      execute: async ({ parameters, settings }) => {
        const zone = parameters.timezone ?? settings.timezone
        const moment = await parse(parameters.date_time, zone)
        return { ...shown(moment), epoch_milliseconds: moment.epochMilliseconds }
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
        ...formatting,
      }),
      effect: 'read',
      describe: ({ date_time, from, to }) =>
        `Convert ${date_time}${from ? ` from ${from}` : ''} to ${to}`,
      execute: async ({ parameters, settings }) => {
        const { date_time, from, to } = parameters
        const moment = await parse(date_time, from ?? settings.timezone)
        return written(await at(moment.epochMilliseconds, to), parameters)
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
    calendar: {
      description:
        'Where a date and time (now, if left out) is in the calendar: weekday, ISO week, day of ' +
        'the year, quarter, first and last second of its day, week and month; and when the ' +
        'clocks of the time zone change next.',
      parameters: z.object({ date_time: dateTime.optional(), timezone }),
      effect: 'read',
      describe: ({ date_time, timezone }) =>
        `Look up ${date_time ?? 'today'} in the calendar${timezone ? ` of ${timezone}` : ''}`,
      execute: async ({ parameters, settings, clock }) => {
        const { date_time } = parameters
        const zone = parameters.timezone ?? settings.timezone
        const { calendarOf } = await import('./time/calendar.ts')
        return calendarOf(
          date_time === undefined
            ? await at(clock.now().getTime(), zone)
            : await parse(date_time, zone),
        )
      },
    },
    zones: {
      description: 'The time zones of a city, of a country or with an offset, and the time there.',
      parameters: z.object({
        query: z
          .string()
          .min(1)
          .describe('A large city, a country in English or its code, or an offset: +05:30.'),
      }),
      effect: 'read',
      describe: ({ query }) => `Look up the time zones of "${query}"`,
      execute: async ({ parameters: { query }, clock }) => {
        const { findZones } = await import('./time/zones.ts')
        return findZones(query, clock.now())
      },
    },
  },
})

export const handler = serve(tool)

/** A moment as it is always told and, where that is asked for, written out as well. */
const written = (
  moment: Parameters<typeof shown>[0],
  { locale, pattern }: { locale?: string | undefined; pattern?: string | undefined },
) =>
  locale === undefined && pattern === undefined
    ? shown(moment)
    : { ...shown(moment), written: formatMoment(moment, { locale, pattern }) }
