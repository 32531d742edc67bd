import type { BigNumber, MathJsInstance, MathNode } from 'mathjs'
import { clip } from '../../../lib/core/clip.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { apply, checked } from './apply.ts'
import { loadMath, refusal, resetPrecision, unitOf } from './library.ts'
import { ALIASES, CALLABLE, CONSTANTS } from './names.ts'
import { type Notation, show } from './show.ts'

const MAX_NODES = 1_000
const MAX_BRACKETS = 50
/** What all operations of a call may take; the loop that runs them serves others too. */
const MAX_MILLISECONDS = 1_000
/** Characters of an expression's part that an error quotes. */
const MAX_QUOTED_CHARS = 60

type Scope = {
  math: MathJsInstance
  variables: Map<string, unknown>
  deadline: number
}
type Line = { name: string | undefined; value: unknown }

/**
 * The value of an expression, or of several (one a line, or with semicolons between them), each
 * on a line of its own and with its name where it has one. VALIDATION_ERROR says what is wrong
 * and where.
 */
export const calculate = async (text: string, notation: Notation): Promise<string> => {
  const math = await loadMath()
  resetPrecision(math)
  const scope = {
    math,
    variables: new Map<string, unknown>(),
    deadline: performance.now() + MAX_MILLISECONDS,
  }
  const lines = readable(text).split('\n')
  const several = lines.filter(line => line.trim() !== '').length > 1
  const results = lines.flatMap((line, index) => {
    try {
      return statementsOf(math, line).map(statement => {
        const { name, value } = evaluateStatement(scope, statement)
        return { name, text: show(math, value, notation) }
      })
    } catch (cause) {
      const where = several ? `line ${index + 1}: ` : ''
      throw new AppError(
        'VALIDATION_ERROR',
        `This can't be calculated: ${where}${reasonOf(cause, line)}`,
        { cause },
      )
    }
  })
  if (results.length === 0) throw refusal("This can't be calculated: it says nothing.")
  if (results.length === 1) return results[0]?.text ?? ''
  return results.map(({ name, text }) => (name ? `${name} = ${text}` : text)).join('\n')
}

/** Signs that people and models write, as the library reads them. */
const readable = (text: string): string =>
  text
    .replaceAll('×', '*')
    .replaceAll('·', '*')
    .replaceAll('÷', '/')
    .replaceAll('−', '-')
    .replaceAll('²', '^2')
    .replaceAll('³', '^3')
    .replaceAll(/°\s*([CF])\b/g, ' deg$1')
    .replaceAll('°', ' deg')
    // The library would read these with 64 digits only.
    .replaceAll(/\b0(x[\da-f]+|o[0-7]+|b[01]+)(?![\w.])/gi, digits => `${BigInt(digits)}`)
    // "15% of 80": of a percentage is times.
    .replaceAll(/%(\s*)of\b/g, '%$1 *')

const statementsOf = (math: MathJsInstance, line: string): MathNode[] => {
  const brackets = [...line].filter(char => char === '(' || char === '[').length
  if (brackets > MAX_BRACKETS && nesting(line) > MAX_BRACKETS)
    throw refusal(`it is nested too deeply: at most ${MAX_BRACKETS} brackets in one another.`)
  if (line.trim() === '') return []
  const tree = math.parse(line)
  let nodes = 0
  tree.traverse(() => {
    nodes += 1
  })
  if (nodes > MAX_NODES) throw refusal(`it has more than ${MAX_NODES} parts. Split it up.`)
  if (math.isBlockNode(tree)) return tree.blocks.map(({ node }) => node)
  return isNothing(math, tree) ? [] : [tree]
}

/** A comment alone is read as the constant `undefined`. */
const isNothing = (math: MathJsInstance, node: MathNode): boolean =>
  math.isConstantNode(node) && node.value === undefined

const nesting = (line: string): number => {
  let depth = 0
  let deepest = 0
  for (const char of line) {
    if (char === '(' || char === '[') depth += 1
    if (char === ')' || char === ']') depth -= 1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

const evaluateStatement = (scope: Scope, node: MathNode): Line => {
  const { math, variables } = scope
  if (!math.isAssignmentNode(node)) return { name: undefined, value: evaluate(scope, node) }
  if (!math.isSymbolNode(node.object) || node.index)
    throw refusal('only a name can be given a value, as in "total = 3 * 4".')
  const { name } = node.object
  if (CONSTANTS.some(constant => constant === name))
    throw refusal(`"${name}" is a constant. Take another name.`)
  const value = evaluate(scope, node.value)
  variables.set(name, value)
  return { name, value }
}

/**
 * The value of one node. Evaluated here rather than by the library, so that only what is listed
 * can be reached, and no value grows past its limits on the way.
 */
const evaluate = (scope: Scope, node: MathNode): unknown => {
  const { math, deadline } = scope
  const call = (kind: 'operator' | 'function', name: string, children: MathNode[]) => {
    if (!CALLABLE[kind].has(name)) throw refusal(`there is no ${kind} "${name}".`)
    const values = children.map(child => evaluate(scope, child))
    if (performance.now() > deadline) throw refusal('it takes too long. Split it up.')
    return located(node, () => apply(math, name, values))
  }
  if (math.isParenthesisNode(node)) return evaluate(scope, node.content)
  if (math.isOperatorNode(node)) return call('operator', node.fn, node.args)
  if (math.isFunctionNode(node) && math.isSymbolNode(node.fn))
    return call('function', ALIASES.get(node.fn.name) ?? node.fn.name, node.args)
  if (math.isArrayNode(node))
    return checked(
      math,
      node.items.map(item => evaluate(scope, item)),
    )
  if (math.isSymbolNode(node)) return named(scope, node.name)
  if (math.isConstantNode(node) && (math.isNumber(node.value) || math.isBigNumber(node.value)))
    return located(node, () => constant(math, math.bignumber(node.value as number)))
  throw refusal(
    `"${quoted(node)}" is not allowed: write numbers, names, lists, units, operators and functions, and nothing else.`,
  )
}

/** A number as it is written is a fraction: 0.1 is exactly a tenth. */
const constant = (math: MathJsInstance, value: BigNumber): unknown =>
  checked(math, math.fraction((checked(math, value) as BigNumber).toFixed()))

const named = ({ math, variables }: Scope, name: string): unknown => {
  if (variables.has(name)) return variables.get(name)
  const constant = CONSTANTS.find(known => known === name)
  if (constant) return math[constant]
  const unit = unitOf(math, name)
  if (unit !== undefined) return unit
  throw refusal(
    `"${name}" is no unit, no name that was given a value and none of the constants ${CONSTANTS.join(', ')}.`,
  )
}

/** Says of what fails which part of the expression it was. */
const located = <T>(node: MathNode, work: () => T): T => {
  try {
    return work()
  } catch (cause) {
    throw new Error(`at "${quoted(node)}": ${reasonOf(cause)}`, { cause })
  }
}

const quoted = (node: MathNode): string => clip(node.toString(), MAX_QUOTED_CHARS)

const reasonOf = (error: unknown, line = ''): string => {
  if (!(error instanceof Error)) return String(error)
  const { message } = error
  if (message.startsWith('Maximum call stack')) return 'it is nested too deeply.'
  if (message === 'Division by Zero') return 'it divides by zero.'
  if (message.startsWith('[DecimalError]')) return 'it needs more digits than there are.'
  const char = 'char' in error && typeof error.char === 'number' ? error.char : undefined
  if (char === undefined) return message
  const reason = message.replace(/ \(char \d+\)$/, '')
  const before = line.slice(0, char - 1).trimEnd()
  return `at character ${char}${before ? `, after "${clip(before, MAX_QUOTED_CHARS)}"` : ''}: ${reason}.`
}
