import type { Temporal } from 'temporal-polyfill'
import { attempt, invalid } from './moment.ts'

const DEFAULT_LOCALE = 'en'
export const MAX_PATTERN_CHARS = 100

type Moment = Temporal.ZonedDateTime
type Field = (moment: Moment, locale: string) => string

const two = (value: number) => String(value).padStart(2, '0')
const hour12 = ({ hour }: Moment) => hour % 12 || 12

/** The part of a date that a language says in its own words. */
const word =
  (type: Intl.DateTimeFormatPartTypes, options: Intl.DateTimeFormatOptions): Field =>
  (moment, locale) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: moment.timeZoneId })
      .formatToParts(moment.epochMilliseconds)
      .find(part => part.type === type)?.value ?? ''

/** The fields of Unicode's date patterns that are known here. */
const FIELDS = new Map<string, Field>([
  ['yyyy', ({ year }) => String(year).padStart(4, '0')],
  ['yy', ({ year }) => two(Math.abs(year) % 100)],
  // With a day beside it, as some languages inflect the month for it.
  ['MMMM', word('month', { month: 'long', day: 'numeric' })],
  ['MMM', word('month', { month: 'short', day: 'numeric' })],
  ['MM', ({ month }) => two(month)],
  ['M', ({ month }) => String(month)],
  ['dd', ({ day }) => two(day)],
  ['d', ({ day }) => String(day)],
  ['EEEE', word('weekday', { weekday: 'long' })],
  ['EEE', word('weekday', { weekday: 'short' })],
  ['HH', ({ hour }) => two(hour)],
  ['H', ({ hour }) => String(hour)],
  ['hh', moment => two(hour12(moment))],
  ['h', moment => String(hour12(moment))],
  ['a', word('dayPeriod', { hour: 'numeric', hourCycle: 'h12' })],
  ['mm', ({ minute }) => two(minute)],
  ['ss', ({ second }) => two(second)],
  ['ww', ({ weekOfYear = 0 }) => two(weekOfYear)],
  ['YYYY', ({ yearOfWeek = 0 }) => String(yearOfWeek).padStart(4, '0')],
  ['xxx', ({ offset }) => offset],
  ['VV', ({ timeZoneId }) => timeZoneId],
])
export const PATTERN_FIELDS = [...FIELDS.keys()].join(' ')

/** Text in quotes (two make one), a run of one letter, or anything else. */
const TOKEN = /'((?:[^']|'')*)'|(([a-zA-Z])\3*)|([^a-zA-Z']+|')/g

/** What a moment is in a language, by a pattern or, without one, in that language's full form. */
export const formatMoment = (
  moment: Moment,
  { locale, pattern }: { locale: string | undefined; pattern: string | undefined },
): string => {
  const language = attempt(
    () => Intl.getCanonicalLocales(locale ?? DEFAULT_LOCALE)[0] ?? DEFAULT_LOCALE,
    `"${locale}" is no language tag. Write it as de, en-GB or pt-BR.`,
  )
  if (pattern === undefined)
    return new Intl.DateTimeFormat(language, {
      dateStyle: 'full',
      timeStyle: 'short',
      timeZone: moment.timeZoneId,
    }).format(moment.epochMilliseconds)
  return pattern.replaceAll(TOKEN, (token, text?: string, letters?: string) => {
    if (text !== undefined) return text === '' ? "'" : text.replaceAll("''", "'")
    if (letters === undefined) return token
    const field = FIELDS.get(letters)
    if (field) return field(moment, language)
    throw invalid(
      `The pattern has "${letters}", which is none of its fields: ${PATTERN_FIELDS}. Put text in single quotes.`,
    )
  })
}
