import type { BigNumber, Fraction, MathJsInstance } from 'mathjs'
import { AppError } from '../../../lib/core/errors.ts'
import { OWN_UNITS } from './names.ts'

/** Digits that are calculated with where a value isn't exact; fewer are shown. */
const PRECISION_DIGITS = 64
/** decimal.js's own default. */
const ROUND_HALF_UP = 4

export type Apply = (...values: unknown[]) => unknown

let math: MathJsInstance | undefined

/** The library takes half a second to load, so only an operation that runs loads it. */
export const loadMath = async (): Promise<MathJsInstance> => {
  if (math) return math
  const { all, create } = await import('mathjs')
  math = create(all ?? {}, {
    number: 'BigNumber',
    matrix: 'Array',
    precision: PRECISION_DIGITS,
    relTol: 10 ** -(PRECISION_DIGITS - 4),
    absTol: 10 ** -(PRECISION_DIGITS - 1),
  })
  return math
}

/** The unit of a name, or undefined. Our own are made when first named: that takes a while. */
export const unitOf = (math: MathJsInstance, name: string): unknown => {
  if (!math.Unit.isValuelessUnit(name)) {
    if (!isOwnUnit(name)) return undefined
    math.createUnit(name, OWN_UNITS[name])
  }
  return math.unit(name)
}

const isOwnUnit = (name: string): name is keyof typeof OWN_UNITS => Object.hasOwn(OWN_UNITS, name)

/**
 * An operation that throws in the middle leaves decimal.js with another precision and rounding,
 * and its module with checks switched off: without this, one model's mistake would spoil the
 * next one's result. `exp` is one of the operations that switch them on again.
 */
export const resetPrecision = (math: MathJsInstance): void => {
  const { BigNumber } = math as unknown as { BigNumber: { set: (config: object) => void } }
  BigNumber.set({ precision: PRECISION_DIGITS, rounding: ROUND_HALF_UP })
  math.bignumber(1).exp()
}

/** A whole number as a fraction, which is exact whatever its size. */
export const integer = (math: MathJsInstance, value: bigint): Fraction => ratio(math, value, 1n)

export const ratio = (math: MathJsInstance, numerator: bigint, denominator: bigint): Fraction =>
  (math.fraction as unknown as (n: bigint, d: bigint) => Fraction)(numerator, denominator)

/** The numerator with its sign, and the denominator. */
export const partsOf = ({ s, n, d }: Fraction): [bigint, bigint] => [
  BigInt(s) * BigInt(n),
  BigInt(d),
]

/** The whole number that a fraction is, or undefined. */
export const integerOf = (math: MathJsInstance, value: unknown): bigint | undefined => {
  if (!math.isFraction(value)) return undefined
  const [numerator, denominator] = partsOf(value)
  return denominator === 1n ? numerator : undefined
}

/** A fraction with 64 digits, and everything else as it is; lists item by item. */
export const rounded = (math: MathJsInstance, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(item => rounded(math, item))
  return math.isFraction(value) ? bigNumber(math, value) : value
}

export const bigNumber = (math: MathJsInstance, value: Fraction): BigNumber =>
  math.bignumber(value as never)

export const refusal = (reason: string) => new AppError('VALIDATION_ERROR', reason)
