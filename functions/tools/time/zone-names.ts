/** Zones that were renamed since the names that Node lists: people look for the newer ones. */
const RENAMED = new Map([
  ['Africa/Asmera', 'Africa/Asmara'],
  ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['America/Godthab', 'America/Nuuk'],
  ['Asia/Calcutta', 'Asia/Kolkata'],
  ['Asia/Katmandu', 'Asia/Kathmandu'],
  ['Asia/Rangoon', 'Asia/Yangon'],
  ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
  ['Atlantic/Faeroe', 'Atlantic/Faroe'],
  ['Europe/Kiev', 'Europe/Kyiv'],
  ['Pacific/Enderbury', 'Pacific/Kanton'],
  ['Pacific/Ponape', 'Pacific/Pohnpei'],
  ['Pacific/Truk', 'Pacific/Chuuk'],
])
/** Shorter texts stand in too many countries' names. */
const MIN_COUNTRY_CHARS = 4
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

/** Every IANA zone by its newer name. */
export const allZones = (): string[] => ['UTC', ...Intl.supportedValuesOf('timeZone').map(renamed)]

/** Zones whose name holds a text, old names too. */
export const similarZones = (text: string): string[] => {
  const part = text.trim().replaceAll(' ', '_').toLowerCase()
  if (part === '') return []
  const holds = (name: string) => name.toLowerCase().includes(part)
  return ['UTC', ...Intl.supportedValuesOf('timeZone')]
    .filter(name => holds(name) || holds(renamed(name)))
    .map(renamed)
}

/** The zones of each country of that name, in English, or of that code: "India", "IN", "UK". */
export const zonesOfCountry = (text: string): string[] => {
  const wanted = text.trim().toLowerCase()
  const long = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const short = new Intl.DisplayNames('en', { type: 'region', fallback: 'none', style: 'short' })
  const isWanted = (code: string): boolean => {
    const name = long.of(code)?.toLowerCase()
    if (name === undefined) return false
    return (
      [code.toLowerCase(), short.of(code)?.toLowerCase(), name].includes(wanted) ||
      (wanted.length >= MIN_COUNTRY_CHARS && name.includes(wanted))
    )
  }
  const codes = LETTERS.flatMap(first => LETTERS.map(second => first + second)).filter(isWanted)
  return [...new Set(codes.flatMap(zonesOfRegion).map(renamed))]
}

const renamed = (name: string): string => RENAMED.get(name) ?? name

/** TypeScript doesn't know this method yet. */
const zonesOfRegion = (code: string): string[] => {
  const locale = new Intl.Locale(`und-${code}`) as Intl.Locale & {
    getTimeZones: () => string[] | undefined
  }
  return locale.getTimeZones() ?? []
}
