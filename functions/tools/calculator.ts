import type { MathJsInstance, MathNode } from 'mathjs'
import * as z from 'zod'
import { AppError } from '../../lib/core/errors.ts'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'

/** Characters of an expression: they bound how many operations it can have. */
const MAX_EXPRESSION_CHARS = 1_000
/** Digits that are calculated with, and those that are shown: the rest absorbs rounding. */
const PRECISION_DIGITS = 64
const RESULT_DIGITS = 40
/** decimal.js's own default. */
const ROUND_HALF_UP = 4
/** Powers of ten between which every value must lie, intermediate ones too. */
const MAX_MAGNITUDE = 1_000
/** 449! is the last factorial below 10^1000, and e^2302 the last such power. */
const MAX_FACTORIAL = 449
const MAX_NATURAL_EXPONENT = 2_302
/** Combinations and permutations are loops of this many rounds, of microseconds each. */
const MAX_CHOICES = 10_000
/** Powers of ten of an angle: its reduction needs as many digits of pi. */
const MAX_ANGLE_MAGNITUDE = 100
const MAX_LIST_ITEMS = 400
const MAX_MATRIX_POWER = 100
/** What all operations of an expression may take; the loop that runs them serves others too. */
const MAX_MILLISECONDS = 1_000

const CONSTANTS = ['pi', 'e', 'tau', 'phi', 'i'] as const
const ALIASES = new Map([
  ['ln', 'log'],
  ['avg', 'mean'],
  ['var', 'variance'],
])
const OPERATORS =
  'add subtract multiply divide mod pow unaryMinus unaryPlus factorial to ' +
  'smaller smallerEq larger largerEq equal unequal'
const FUNCTIONS =
  'abs sign sqrt cbrt nthRoot pow exp log log2 log10 round floor ceil fix mod gcd lcm hypot ' +
  'factorial combinations permutations sin cos tan asin acos atan atan2 sinh cosh tanh asinh ' +
  'acosh atanh sum prod min max mean median mode std variance det inv transpose dot cross'
/** What lists may go into: elsewhere, one operation would be as many as its list has items. */
const TAKES_LISTS = new Set(
  (
    'add subtract multiply divide pow unaryMinus unaryPlus sum prod min max mean median mode std ' +
    'variance det inv transpose dot cross'
  ).split(' '),
)
/** Nothing else is ever called: no import, no parse, no function that makes or reaches objects. */
const CALLABLE = {
  operator: new Set(OPERATORS.split(' ')),
  function: new Set(FUNCTIONS.split(' ')),
}

export const tool = defineTool({
  name: 'calculator',
  description: `Calculates exactly, with ${RESULT_DIGITS} digits. Use it for every calculation.`,
  displayName: 'Calculator',
  category: 'general',
  icon: 'calculator',
  operations: {
    calculate: {
      description: 'The value of an expression.',
      parameters: z.object({
        expression: z
          .string()
          .min(1)
          .max(MAX_EXPRESSION_CHARS)
          .describe(
            'One expression, such as (17.5 + 3)^2 / 4, 20% * 80, sqrt(2), mean([1, 2, 3]), ' +
              `5 inch to cm. Units and pi, e, tau, phi are known. Functions: ${FUNCTIONS}, ln.`,
          ),
      }),
      effect: 'read',
      describe: ({ expression }) => `Calculate ${expression}`,
      execute: async ({ parameters }) => calculate(await loadMath(), parameters.expression),
    },
  },
})

export const handler = serve(tool)

type Apply = (...values: unknown[]) => unknown

let math: MathJsInstance | undefined

/** The library takes half a second to load, so only an operation that runs loads it. */
const loadMath = async (): Promise<MathJsInstance> => {
  const { all, create } = await import('mathjs')
  math ??= create(all ?? {}, {
    number: 'BigNumber',
    matrix: 'Array',
    precision: PRECISION_DIGITS,
    relTol: 10 ** -(PRECISION_DIGITS - 4),
    absTol: 10 ** -(PRECISION_DIGITS - 1),
  })
  return math
}

const calculate = (math: MathJsInstance, expression: string): string => {
  resetPrecision(math)
  try {
    const value = evaluate(math, math.parse(expression), performance.now() + MAX_MILLISECONDS)
    return math.format(value, { precision: RESULT_DIGITS, lowerExp: -9, upperExp: RESULT_DIGITS })
  } catch (cause) {
    throw new AppError('VALIDATION_ERROR', `This can't be calculated: ${reasonOf(cause)}`, {
      cause,
    })
  }
}

/**
 * The value of one node of an expression. Evaluated here rather than by the library, so that
 * only what is listed above can be reached, and no value grows past its limits on the way.
 */
const evaluate = (math: MathJsInstance, node: MathNode, deadline: number): unknown => {
  const valueAt = (child: MathNode) => evaluate(math, child, deadline)
  const apply = (kind: 'operator' | 'function', name: string, children: MathNode[]) => {
    if (!CALLABLE[kind].has(name)) throw refusal(`there is no ${kind} "${name}".`)
    const values = children.map(valueAt)
    if (performance.now() > deadline) throw refusal('it takes too long. Split it up.')
    checkOperands(math, name, values)
    return checked(math, (math as unknown as Record<string, Apply>)[name]?.(...values))
  }
  if (math.isParenthesisNode(node)) return valueAt(node.content)
  if (math.isOperatorNode(node)) return apply('operator', node.fn, node.args)
  if (math.isFunctionNode(node) && math.isSymbolNode(node.fn))
    return apply('function', ALIASES.get(node.fn.name) ?? node.fn.name, node.args)
  if (math.isArrayNode(node)) return checked(math, node.items.map(valueAt))
  if (math.isSymbolNode(node)) return named(math, node.name)
  if (math.isConstantNode(node) && (math.isNumber(node.value) || math.isBigNumber(node.value)))
    return checked(math, math.bignumber(node.value))
  throw refusal('it may hold numbers, lists, units, operators and functions, and nothing else.')
}

const named = (math: MathJsInstance, name: string): unknown => {
  const constant = CONSTANTS.find(known => known === name)
  if (constant) return math[constant]
  if (math.Unit.isValuelessUnit(name)) return math.unit(name)
  throw refusal(`"${name}" is neither a unit nor one of the constants ${CONSTANTS.join(', ')}.`)
}

/** Refuses operands for which the library would run for long, or without an end. */
const checkOperands = (math: MathJsInstance, name: string, values: unknown[]): void => {
  const largest = (most: number) => {
    const tooLarge = (value: unknown) => math.isBigNumber(value) && value.abs().gt(most)
    if (values.some(tooLarge)) throw refusal(`${name} takes numbers up to ${most} only.`)
  }
  if (!TAKES_LISTS.has(name) && values.some(Array.isArray)) throw refusal(`${name} takes no list.`)
  if (name === 'factorial') largest(MAX_FACTORIAL)
  if (/^(exp|sinh|cosh|tanh)$/.test(name)) largest(MAX_NATURAL_EXPONENT)
  if (/^(combinations|permutations)$/.test(name)) largest(MAX_CHOICES)
  if (/^(sin|cos|tan|asinh|acosh)$/.test(name)) largest(10 ** MAX_ANGLE_MAGNITUDE)
  if (name === 'pow' && Array.isArray(values[0])) largest(MAX_MATRIX_POWER)
}

/** The value, if it is finite and within the limits. */
const checked = (math: MathJsInstance, value: unknown): unknown => {
  const parts = math.isComplex(value) ? [value.re, value.im] : [value].flat(Infinity)
  if (parts.length > MAX_LIST_ITEMS) throw refusal(`lists have ${MAX_LIST_ITEMS} items at most.`)
  for (const part of parts) {
    const size: unknown = math.isUnit(part) ? part.toJSON().value : part
    if (!math.isNumber(size) && !math.isBigNumber(size)) continue
    const number = math.bignumber(size)
    if (number.isNaN()) throw refusal('a part of it has no value, such as 0/0 or asin(2).')
    if (!number.isFinite()) throw refusal('a part of it is infinite, such as 1/0 or log(0).')
    if (Math.abs(number.e) > MAX_MAGNITUDE)
      throw refusal(`a part of it is beyond 10^±${MAX_MAGNITUDE}.`)
  }
  return value
}

/**
 * An operation that throws in the middle leaves decimal.js with another precision and rounding,
 * and its module with checks switched off: without this, one model's mistake would spoil the
 * next one's result. `exp` is one of the operations that switch them on again.
 */
const resetPrecision = (math: MathJsInstance): void => {
  const { BigNumber } = math as unknown as { BigNumber: { set: (config: object) => void } }
  BigNumber.set({ precision: PRECISION_DIGITS, rounding: ROUND_HALF_UP })
  math.bignumber(1).exp()
}

const refusal = (reason: string) => new AppError('VALIDATION_ERROR', reason)

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error.message.startsWith('Maximum call stack')) return 'it is nested too deeply.'
  if (error.message.startsWith('[DecimalError]')) return 'it needs more digits than there are.'
  return error.message
}
