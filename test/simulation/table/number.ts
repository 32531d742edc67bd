import { invalid } from './errors.ts'

/** DynamoDB's bounds of a number: significant digits, and powers of ten of the first of them. */
const MAX_DIGITS = 38
const MAX_POWER = 125
const MIN_POWER = -130

const NUMBER = /^[+-]?(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/
/** So short that a float holds it, and the sum of two. */
const PLAIN_INTEGER = /^(?:0|-?[1-9]\d{0,14})$/

/** Without zeros at its end: two that are equal have equal parts. */
type Decimal = { units: bigint; exponent: number }

/** A number's text as DynamoDB gives it back: no exponent, no sign of plus, no needless zeros. */
export const canonicalNumber = (text: string): string =>
  PLAIN_INTEGER.test(text) ? text : format(parse(text))

/** Both in their canonical text. */
export const addNumbers = (a: string, b: string): string => {
  if (PLAIN_INTEGER.test(a) && PLAIN_INTEGER.test(b)) return String(Number(a) + Number(b))
  const [left, right] = [parse(a), parse(b)]
  const exponent = Math.min(left.exponent, right.exponent)
  return format(checked(trim(scaled(left, exponent) + scaled(right, exponent), exponent)))
}

/** Below, at or above zero, as a sort's comparison; both in their canonical text. */
export const compareNumbers = (a: string, b: string): number => {
  if (a === b) return 0
  if (PLAIN_INTEGER.test(a) && PLAIN_INTEGER.test(b)) return Number(a) - Number(b)
  const [left, right] = [parse(a), parse(b)]
  const exponent = Math.min(left.exponent, right.exponent)
  const difference = scaled(left, exponent) - scaled(right, exponent)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/**
 * A canonical number's bytes: one, one for a minus, and half a byte for each significant digit
 * before the point and for each after it, both rounded up (measured in eu-west-2 by the authors of
 * dynoxide, its changelog after 0.13.0; AWS documents it as "approximately").
 */
export const numberBytes = (text: string): number => {
  const point = text.indexOf('.')
  const [whole, fraction] = point < 0 ? [text, ''] : [text.slice(0, point), text.slice(point + 1)]
  const sign = whole.startsWith('-') ? 1 : 0
  let start = sign
  let end = whole.length
  if (whole[start] === '0') start += 1
  if (fraction === '') while (end > start && whole[end - 1] === '0') end -= 1
  const before = end - start
  let zeros = 0
  if (before === 0) while (fraction[zeros] === '0') zeros += 1
  return 1 + sign + Math.ceil(before / 2) + Math.ceil((fraction.length - zeros) / 2)
}

const parse = (text: string): Decimal => {
  const match = NUMBER.exec(text)
  if (!match) throw invalid(`The parameter cannot be converted to a numeric value: ${text}`)
  const [, whole = '', fraction = '', power = '0'] = match
  const units = BigInt(whole + fraction || '0')
  return checked(trim(text.startsWith('-') ? -units : units, Number(power) - fraction.length))
}

const trim = (units: bigint, exponent: number): Decimal => {
  if (units === 0n) return { units, exponent: 0 }
  const zeros = /0*$/.exec(units.toString())?.[0].length ?? 0
  return { units: units / 10n ** BigInt(zeros), exponent: exponent + zeros }
}

const checked = (decimal: Decimal): Decimal => {
  const digits = digitsOf(decimal.units).length
  if (digits > MAX_DIGITS)
    throw invalid('Attempting to store more than 38 significant digits in a Number')
  if (digits + decimal.exponent - 1 > MAX_POWER)
    throw invalid('Number overflow. Attempting to store a number with magnitude too large')
  if (digits + decimal.exponent - 1 < MIN_POWER)
    throw invalid('Number underflow. Attempting to store a number with magnitude too small')
  return decimal
}

const digitsOf = (units: bigint): string => units.toString().replace('-', '')

const scaled = ({ units, exponent }: Decimal, to: number): bigint =>
  units * 10n ** BigInt(exponent - to)

const format = ({ units, exponent }: Decimal): string => {
  if (exponent >= 0) return units.toString() + '0'.repeat(units === 0n ? 0 : exponent)
  const digits = digitsOf(units).padStart(1 - exponent, '0')
  const text = `${digits.slice(0, exponent)}.${digits.slice(exponent)}`
  return units < 0n ? `-${text}` : text
}
