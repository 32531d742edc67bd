import type { Fraction, MathJsInstance } from 'mathjs'
import { type Apply, integer, integerOf, partsOf, ratio, refusal } from './library.ts'
import { EXACT, GROWS, INTEGER_FUNCTIONS } from './names.ts'

/** Digits of a fraction's two parts that are kept exactly: past them it is rounded to 64. */
export const MAX_EXACT_DIGITS = 1_000
/** All operands' digits together; a fraction is reduced after each step, which takes their square. */
const MAX_OPERAND_DIGITS = 2_000
/** The same where the digits of many numbers add up in the result. */
const MAX_GROWING_DIGITS = 300
/** 449! is the last factorial below 10^1000. */
const MAX_FACTORIAL = 449
/** Combinations and permutations are loops of this many rounds. */
const MAX_CHOICES = 10_000
/** Bits: 2^3321 is the last power of two below 10^1000. */
const MAX_SHIFT = 3_321
const MAX_PLACES = 100
export const MAX_MATRIX_POWER = 100

const OF_INTEGERS = new Set(INTEGER_FUNCTIONS.split(' '))

/** The result without any rounding, or undefined where this function has none for these values. */
export const exactly = (math: MathJsInstance, name: string, values: unknown[]): unknown => {
  if (OF_INTEGERS.has(name)) return ofIntegers(math, name, values)
  if (name === 'round') return roundedTo(math, values)
  const leaves = values.flat(Number.POSITIVE_INFINITY)
  if (!EXACT.has(name) || !leaves.every(leaf => math.isFraction(leaf))) return undefined
  const digits = leaves.reduce((sum: number, leaf) => sum + digitsOf(leaf as Fraction), 0)
  const grows = GROWS.has(name) && values.some(Array.isArray)
  if (digits > (grows ? MAX_GROWING_DIGITS : MAX_OPERAND_DIGITS)) return undefined
  if (name === 'pow') return power(math, values, digits)
  if (/^(divide|mod)$/.test(name) && isZero(values[1])) throw refusal('it divides by zero.')
  return (math as unknown as Record<string, Apply>)[name]?.(...values)
}

export const digitsOf = (value: Fraction): number => {
  const [numerator, denominator] = partsOf(value)
  return `${numerator}`.length + `${denominator}`.length
}

const isZero = (value: unknown): boolean =>
  value !== null && typeof value === 'object' && 'n' in value && value.n === 0n

const power = (math: MathJsInstance, [base, by]: unknown[], digits: number): unknown => {
  const exponent = integerOf(math, by)
  if (exponent === undefined) return undefined
  const size = exponent < 0n ? -exponent : exponent
  if (Array.isArray(base)) {
    if (size > MAX_MATRIX_POWER)
      throw refusal(`pow takes a list to powers up to ${MAX_MATRIX_POWER} only.`)
    if (BigInt(digits) * size > MAX_GROWING_DIGITS) return undefined
    return math.pow(base as never, Number(exponent))
  }
  if (isZero(base) && exponent < 0n) throw refusal('it divides by zero.')
  const [numerator, denominator] = partsOf(base as Fraction)
  if (digitsOfPower(numerator, size) > MAX_EXACT_DIGITS) return undefined
  if (digitsOfPower(denominator, size) > MAX_EXACT_DIGITS) return undefined
  const isOne = (part: bigint) => part * part === 1n
  const parity = size % 2n === 0n && numerator * numerator === 1n ? 2n : 1n
  // Of 1 and -1 every power is short, however high.
  const times = isOne(numerator) && isOne(denominator) ? parity : size
  const [top, bottom] = [numerator ** times, denominator ** times]
  return exponent < 0n ? ratio(math, bottom, top) : ratio(math, top, bottom)
}

/** Digits of a number that a double holds without rounding. */
const LEADING_DIGITS = 15

/** How many digits a power has, known before it is made. */
const digitsOfPower = (base: bigint, size: bigint): number => {
  const text = `${base < 0n ? -base : base}`
  const leading = text.slice(0, LEADING_DIGITS)
  const magnitude = base === 0n ? 0 : Math.log10(Number(leading)) + text.length - leading.length
  return magnitude === 0 ? 1 : Math.floor(magnitude * Number(size)) + 1
}

/** Halves away from zero, as people round. */
const roundedTo = (math: MathJsInstance, [value, to]: unknown[]): unknown => {
  const places = to === undefined ? 0n : integerOf(math, to)
  if (places === undefined || places > MAX_PLACES || places < -MAX_PLACES)
    throw refusal(`round takes whole numbers of places from -${MAX_PLACES} to ${MAX_PLACES} only.`)
  if (!math.isFraction(value)) return undefined
  const [numerator, denominator] = partsOf(value)
  const scale = 10n ** (places < 0n ? -places : places)
  const [top, bottom] =
    places < 0n ? [numerator, denominator * scale] : [numerator * scale, denominator]
  const size = top < 0n ? -top : top
  const nearest = ((2n * size + bottom) / (2n * bottom)) * (top < 0n ? -1n : 1n)
  return places < 0n ? integer(math, nearest * scale) : ratio(math, nearest, scale)
}

const ofIntegers = (math: MathJsInstance, name: string, values: unknown[]): Fraction => {
  const [a, b = 0n, ...rest] = values.map(value => integerOf(math, value))
  const given = name === 'bitNot' || name === 'factorial' ? 1 : 2
  if (values.length !== given || a === undefined || b === undefined || rest.length > 0)
    throw refusal(`${name} takes ${given === 1 ? 'one whole number' : 'two whole numbers'}.`)
  const within = (most: number, ...counts: bigint[]) => {
    if (counts.some(count => count < 0n || count > most))
      throw refusal(`${name} takes whole numbers from 0 up to ${most} only.`)
  }
  const result = (): bigint => {
    switch (name) {
      case 'factorial':
        within(MAX_FACTORIAL, a)
        return falling(a, a)
      case 'permutations':
        within(MAX_CHOICES, a, b)
        return b > a ? 0n : falling(a, b)
      case 'combinations':
        within(MAX_CHOICES, a, b)
        return b > a ? 0n : choose(a, b)
      case 'bitAnd':
        return a & b
      case 'bitOr':
        return a | b
      case 'bitXor':
        return a ^ b
      case 'bitNot':
        return ~a
      case 'leftShift':
        within(MAX_SHIFT, b)
        return a << b
      default:
        within(MAX_SHIFT, b)
        return a >> b
    }
  }
  return integer(math, result())
}

/** n · (n - 1) · … of k factors. */
const falling = (n: bigint, k: bigint): bigint => {
  let product = 1n
  for (let factor = n; factor > n - k; factor--) product *= factor
  return product
}

const choose = (n: bigint, k: bigint): bigint => {
  const fewer = k > n - k ? n - k : k
  let chosen = 1n
  for (let step = 1n; step <= fewer; step++) chosen = (chosen * (n - fewer + step)) / step
  return chosen
}
