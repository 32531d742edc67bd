import type { BigNumber, MathJsInstance } from 'mathjs'
import { digitsOf, exactly, MAX_EXACT_DIGITS, MAX_MATRIX_POWER } from './exact.ts'
import { type Apply, bigNumber, integerOf, refusal, rounded } from './library.ts'
import { RESULT_DIGITS, TAKES_LISTS } from './names.ts'

/** Powers of ten between which every value must lie, intermediate ones too. */
const MAX_MAGNITUDE = 1_000
/** e^2302 is the last such power below 10^1000. */
const MAX_NATURAL_EXPONENT = 2_302
/** Powers of ten of an angle: its reduction needs as many digits of pi. */
const MAX_ANGLE_MAGNITUDE = 100
const MAX_LIST_ITEMS = 400
/** Digits of a JavaScript number that are sure; complex numbers consist of such. */
export const COMPLEX_DIGITS = 15

/**
 * What a function of the library makes of values: exactly where it can be, with 64 digits where
 * it can't. Operands for which it would run for long, or without an end, are refused before.
 */
export const apply = (math: MathJsInstance, name: string, values: unknown[]): unknown => {
  if (!TAKES_LISTS.has(name) && values.some(Array.isArray)) throw refusal(`${name} takes no list.`)
  const exact = exactly(math, name, values)
  if (exact !== undefined) return checked(math, exact)
  const operands = values.map(value => rounded(math, value))
  checkOperands(math, name, operands)
  return checked(math, (math as unknown as Record<string, Apply>)[name]?.(...operands))
}

const checkOperands = (math: MathJsInstance, name: string, values: unknown[]): void => {
  const largest = (most: number) => {
    const tooLarge = (value: unknown) => math.isBigNumber(value) && value.abs().gt(most)
    if (values.some(tooLarge)) throw refusal(`${name} takes numbers up to ${most} only.`)
  }
  if (/^(exp|sinh|cosh|tanh)$/.test(name)) largest(MAX_NATURAL_EXPONENT)
  if (/^(sin|cos|tan|asinh|acosh)$/.test(name)) largest(10 ** MAX_ANGLE_MAGNITUDE)
  if (name === 'mod') checkRemainder(math, values)
  if (name === 'pow' && Array.isArray(values[0])) largest(MAX_MATRIX_POWER)
}

/** Of what is not known exactly, a remainder is made of digits that are known, or of none. */
const checkRemainder = (math: MathJsInstance, [value, by]: unknown[]) => {
  if (math.isBigNumber(value) && math.isBigNumber(by) && value.e - by.e > RESULT_DIGITS)
    throw refusal('mod takes a number of so many digits only where it is known exactly.')
}

/** The value, if it is finite and within the limits; a fraction that has grown long is rounded. */
export const checked = (math: MathJsInstance, value: unknown): unknown => {
  if (Array.isArray(value)) {
    if (value.flat(Number.POSITIVE_INFINITY).length > MAX_LIST_ITEMS)
      throw refusal(`lists have ${MAX_LIST_ITEMS} items at most.`)
    return value.map(item => checked(math, item))
  }
  if (math.isFraction(value)) {
    if (digitsOf(value) <= MAX_EXACT_DIGITS) return value
    const number = inRange(math, bigNumber(math, value))
    return integerOf(math, value) === undefined ? number : value
  }
  if (math.isComplex(value)) {
    for (const part of [value.re, value.im]) inRange(math, math.bignumber(part))
    return value
  }
  if (math.isUnit(value)) {
    const size: unknown = value.toJSON().value
    if (math.isNumber(size) || math.isBigNumber(size)) inRange(math, math.bignumber(size))
    return value
  }
  if (math.isNumber(value))
    return inRange(
      math,
      math.bignumber(Number.isFinite(value) ? value.toPrecision(COMPLEX_DIGITS) : value),
    )
  return math.isBigNumber(value) ? inRange(math, value) : value
}

const inRange = (math: MathJsInstance, value: BigNumber) => {
  const number = math.bignumber(value)
  if (number.isNaN()) throw refusal('it has no value, as 0/0 or asin(2) have none.')
  if (!number.isFinite()) throw refusal('it is infinite, as log(0) is.')
  if (Math.abs(number.e) > MAX_MAGNITUDE) throw refusal(`it is beyond 10^±${MAX_MAGNITUDE}.`)
  return number
}
