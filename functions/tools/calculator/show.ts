import type { BigNumber, Fraction, MathJsInstance } from 'mathjs'
import { COMPLEX_DIGITS } from './apply.ts'
import { bigNumber, integerOf, partsOf, refusal } from './library.ts'
import { type FORMATS, RESULT_DIGITS } from './names.ts'

/** Below this power of ten a decimal is shown as 1e-10. */
const SMALLEST_PLAIN_EXPONENT = -9
const BASES = { hexadecimal: [16, '0x'], octal: [8, '0o'], binary: [2, '0b'] } as const

type Format = (typeof FORMATS)[number]
export type Notation = { format: Format; decimals: number | undefined }

/** A value as text; whole numbers with all their digits, lists in brackets. */
export const show = (math: MathJsInstance, value: unknown, notation: Notation): string => {
  if (Array.isArray(value)) return `[${value.map(item => show(math, item, notation)).join(', ')}]`
  if (math.isFraction(value)) return showFraction(math, value, notation)
  if (math.isBigNumber(value)) return showNumber(math, value, notation)
  if (math.isComplex(value)) return math.format(value, COMPLEX_DIGITS)
  if (math.isUnit(value))
    return math.format(value, (number: unknown) => {
      const size = math.isBigNumber(number) ? number : math.bignumber(number as number)
      return showNumber(math, size, { ...notation, format: unitFormat(notation.format) })
    })
  return String(value)
}

const unitFormat = (format: Format): Format => (format === 'scientific' ? format : 'decimal')

const showFraction = (math: MathJsInstance, value: Fraction, notation: Notation): string => {
  const { format, decimals } = notation
  const whole = integerOf(math, value)
  const [numerator, denominator] = partsOf(value)
  switch (format) {
    case 'fraction':
      return denominator === 1n ? `${numerator}` : `${numerator}/${denominator}`
    case 'hexadecimal':
    case 'octal':
    case 'binary':
      if (whole === undefined) throw refusal(`only a whole number has a ${format} form here.`)
      return inBase(whole, format)
    case 'decimal':
      return whole === undefined
        ? showNumber(math, bigNumber(math, value), notation)
        : `${whole}${decimals ? `.${'0'.repeat(decimals)}` : ''}`
    case 'scientific':
    case 'percent':
      return showNumber(math, bigNumber(math, value), notation)
    default:
      return format satisfies never
  }
}

/** A number of 64 digits, of which the last ones may be off. */
const showNumber = (math: MathJsInstance, value: BigNumber, notation: Notation): string => {
  const { format, decimals } = notation
  switch (format) {
    case 'decimal':
      if (decimals !== undefined && value.e < RESULT_DIGITS) return value.toFixed(decimals)
      return math.format(value, {
        precision: RESULT_DIGITS,
        lowerExp: SMALLEST_PLAIN_EXPONENT,
        upperExp: RESULT_DIGITS,
      })
    case 'percent':
      return `${showNumber(math, value.times(100), { ...notation, format: 'decimal' })}%`
    case 'scientific':
      return decimals === undefined
        ? value.toSignificantDigits(RESULT_DIGITS).toExponential()
        : value.toExponential(decimals)
    case 'fraction':
      throw refusal('the value is no fraction that is known exactly. Ask for a decimal.')
    case 'hexadecimal':
    case 'octal':
    case 'binary':
      throw refusal(`the value is not known exactly, so that it has no ${format} form. Round it.`)
    default:
      return format satisfies never
  }
}

const inBase = (value: bigint, format: keyof typeof BASES): string => {
  const [base, prefix] = BASES[format]
  const size = value < 0n ? -value : value
  return `${value < 0n ? '-' : ''}${prefix}${size.toString(base)}`
}
