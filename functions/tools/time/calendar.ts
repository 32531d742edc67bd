import type { Temporal } from 'temporal-polyfill'
import { shown } from './moment.ts'

const DAYS_OF_WEEK = 7
const MONTHS_OF_QUARTER = 3

/** Where a moment is in its calendar, and when its zone's clocks change next. */
export const calendarOf = (moment: Temporal.ZonedDateTime) => {
  const day = moment.startOfDay()
  const monday = moment.subtract({ days: moment.dayOfWeek - 1 }).startOfDay()
  const first = moment.with({ day: 1 }).startOfDay()
  return {
    ...shown(moment),
    iso_week: `${moment.yearOfWeek}-W${String(moment.weekOfYear).padStart(2, '0')}`,
    day_of_year: moment.dayOfYear,
    quarter: Math.ceil(moment.month / MONTHS_OF_QUARTER),
    days_in_month: moment.daysInMonth,
    leap_year: moment.inLeapYear,
    day: span(day, { days: 1 }),
    week: span(monday, { days: DAYS_OF_WEEK }),
    month: span(first, { months: 1 }),
    next_clock_change: nextChange(moment),
  }
}

/** From its first second to its last one. */
const span = (start: Temporal.ZonedDateTime, length: Temporal.DurationLike) => ({
  start: shown(start).date_time,
  end: shown(start.add(length).startOfDay().subtract({ seconds: 1 })).date_time,
})

const nextChange = (moment: Temporal.ZonedDateTime) => {
  const change = moment.getTimeZoneTransition('next')
  if (!change) return null
  return {
    date_time: shown(change).date_time,
    offset_before: change.subtract({ nanoseconds: 1 }).offset,
    offset_after: change.offset,
  }
}
