import type { Temporal } from 'temporal-polyfill'
import { AppError } from '../../../lib/core/errors.ts'
import { similarZones } from './zone-names.ts'

const MAX_SUGGESTED_ZONES = 5

/** A moment as the model reads it, the weekday with it: models guess weekdays wrong. */
export const shown = (moment: Temporal.ZonedDateTime) => ({
  date_time: moment.toString({ timeZoneName: 'never', smallestUnit: 'second' }),
  weekday: moment.toLocaleString('en', { weekday: 'long' }),
  time_zone: moment.timeZoneId,
  epoch: Math.floor(moment.epochMilliseconds / 1000),
})

/** The library takes its time to load, so only an operation that runs loads it. */
const loadTemporal = async () => (await import('temporal-polyfill')).Temporal

export const at = async (
  epochMilliseconds: number,
  zone: string,
): Promise<Temporal.ZonedDateTime> => {
  const { Instant } = await loadTemporal()
  const instant = Instant.fromEpochMilliseconds(epochMilliseconds)
  return attempt(() => instant.toZonedDateTimeISO(zone), unknownZone(zone))
}

/** A model's date and time; a local time that a change of clocks skips or repeats is an error. */
export const parse = async (text: string, zone: string): Promise<Temporal.ZonedDateTime> => {
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

export const parseDuration = async (text: string): Promise<Temporal.Duration> => {
  const { Duration } = await loadTemporal()
  return attempt(
    () => Duration.from(text),
    `"${text}" is no ISO 8601 duration. Write it as P1D, P1M, PT90M or -P2W.`,
  )
}

export const addTo = (moment: Temporal.ZonedDateTime, duration: Temporal.Duration) =>
  attempt(() => moment.add(duration), beyond(`${moment.toString()} plus ${duration.toString()}`))

const beyond = (what: string): string => `${what} is beyond the dates that can be calculated.`

const unknownZone = (zone: string): string => {
  const similar = similarZones(zone).slice(0, MAX_SUGGESTED_ZONES)
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

export const attempt = <T>(make: () => T, message: string): T => {
  const value = tryTo(make)
  if (value === undefined) throw invalid(message)
  return value
}

export const invalid = (message: string) => new AppError('VALIDATION_ERROR', message)
