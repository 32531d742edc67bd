import { at, invalid } from './moment.ts'
import { allZones, similarZones, zonesOfCountry } from './zone-names.ts'

export const MAX_ZONES = 30
const OFFSET = /^(?:UTC|GMT)?\s*([+−-])(\d{1,2})(?::?(\d{2}))?$/i

/**
 * The zones that a place, a country or an offset means, each with the time it is there;
 * VALIDATION_ERROR where there is none.
 */
export const findZones = async (query: string, now: Date) => {
  const epochMilliseconds = now.getTime()
  const tell = async (zone: string) => {
    const moment = await at(epochMilliseconds, zone)
    return {
      time_zone: zone,
      offset: moment.offset,
      date_time: moment.toString({ timeZoneName: 'never', smallestUnit: 'second' }),
    }
  }
  const offset = offsetOf(query)
  const names =
    offset === undefined
      ? [...new Set([...similarZones(query), ...zonesOfCountry(query)])]
      : allZones()
  const told = await Promise.all(names.map(tell))
  const zones = told.filter(zone => offset === undefined || zone.offset === offset)
  if (zones.length === 0)
    throw invalid(
      `No time zone matches "${query}". Search for a large city, a country or an offset such as +05:30.`,
    )
  const more = zones.length - MAX_ZONES
  return {
    zones: zones.slice(0, MAX_ZONES),
    ...(more > 0 ? { more, hint: 'Search for more than this to see the others.' } : {}),
  }
}

/** "UTC+5:30" as "+05:30"; undefined for what is no offset. */
const offsetOf = (query: string): string | undefined => {
  const [, sign, hours = '', minutes = '00'] = OFFSET.exec(query.trim()) ?? []
  return sign && `${sign === '+' ? '+' : '-'}${hours.padStart(2, '0')}:${minutes}`
}
