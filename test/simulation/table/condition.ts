import type { Bindings, Labels } from './bindings.ts'
import { invalid, unsupported } from './errors.ts'
import { readTokens, type Tokens, takeName } from './tokens.ts'
import { compareValues, kindOf } from './value.ts'

/** AWS's quota "Operands" of an IN. */
const MAX_CHOICES = 100

const SIGNS = ['=', '<>', '<', '<=', '>', '>='] as const
export type Sign = (typeof SIGNS)[number]

export type Operand = { name: string } | { value: string }
export type Test =
  | { is: 'and' | 'or'; parts: Test[] }
  | { is: 'not'; part: Test }
  | { is: 'compare'; sign: Sign; left: Operand; right: Operand }
  | { is: 'between'; operand: Operand; lower: Operand; upper: Operand }
  | { is: 'in'; operand: Operand; choices: Operand[] }
  | { is: 'exists' | 'absent'; name: string }
  | { is: 'contains' | 'begins'; operand: Operand; part: Operand }

export type Condition = Labels & { test: Test }

/** A condition's meaning, whatever its labels stand for; throws where DynamoDB has none for it. */
export const parseCondition = (text: string): Condition => {
  const names = new Set<string>()
  const values = new Set<string>()
  const tokens = readTokens('ConditionExpression', text)

  const operand = (): Operand => {
    if (tokens.peek()?.kind === 'value') {
      const value = tokens.take().text
      values.add(value)
      return { value }
    }
    return { name: attribute() }
  }
  const attribute = (): string => {
    const name = takeName(tokens)
    names.add(name)
    return name
  }
  const disjunction = (): Test => joined('or', conjunction)
  const conjunction = (): Test => joined('and', negation)
  const joined = (is: 'and' | 'or', part: () => Test): Test => {
    const parts = [part()]
    while (tokens.accept(is.toUpperCase())) parts.push(part())
    return parts.length === 1 && parts[0] ? parts[0] : { is, parts }
  }
  const negation = (): Test =>
    tokens.accept('NOT') ? { is: 'not', part: negation() } : comparison()
  const comparison = (): Test => {
    if (tokens.accept('(')) {
      const inner = disjunction()
      tokens.expect(')')
      return inner
    }
    if (isCall(tokens)) return call()
    const left = operand()
    if (tokens.accept('BETWEEN')) {
      const lower = operand()
      tokens.expect('AND')
      return { is: 'between', operand: left, lower, upper: operand() }
    }
    if (tokens.accept('IN')) return { is: 'in', operand: left, choices: list() }
    const sign = SIGNS.find(each => tokens.accept(each))
    if (!sign) throw tokens.fail(`Syntax error; token: "${tokens.peek()?.text ?? '<EOF>'}"`)
    return { is: 'compare', sign, left, right: operand() }
  }
  const list = (): Operand[] => {
    tokens.expect('(')
    const choices = [operand()]
    while (tokens.accept(',')) choices.push(operand())
    tokens.expect(')')
    if (choices.length > MAX_CHOICES) throw tokens.fail('The IN operator has too many operands')
    return choices
  }
  const call = (): Test => {
    const name = tokens.take().text
    tokens.expect('(')
    const test = calls[name]
    if (!test) throw unsupported(`the function ${name}`)
    const result = test()
    tokens.expect(')')
    return result
  }
  const pair = (): { operand: Operand; part: Operand } => {
    const first = operand()
    tokens.expect(',')
    return { operand: first, part: operand() }
  }
  const calls: Record<string, () => Test> = {
    attribute_exists: () => ({ is: 'exists', name: attribute() }),
    attribute_not_exists: () => ({ is: 'absent', name: attribute() }),
    contains: () => ({ is: 'contains', ...pair() }),
    begins_with: () => ({ is: 'begins', ...pair() }),
  }

  const test = disjunction()
  if (!tokens.isAtEnd()) throw tokens.fail(`Syntax error; token: "${tokens.peek()?.text}"`)
  return { test, names, values }
}

const isCall = (tokens: Tokens): boolean =>
  tokens.peek()?.kind === 'word' && tokens.peek(1)?.text === '('

/** Throws where the values can't be what their operators take, whatever the item holds. */
export const checkOperands = (test: Test, bindings: Bindings): void => {
  const demandOrdered = (operand: Operand, operator: string, kinds = ['S', 'N', 'B']): void => {
    if (!('value' in operand)) return
    const kind = kindOf(bindings.valueAt(operand.value))
    if (kinds.includes(kind)) return
    throw invalid(
      `Incorrect operand type for operator or function; operator: ${operator}, type: ${kind}`,
    )
  }
  if (test.is === 'and' || test.is === 'or')
    for (const part of test.parts) checkOperands(part, bindings)
  if (test.is === 'not') checkOperands(test.part, bindings)
  if (test.is === 'compare' && test.sign !== '=' && test.sign !== '<>')
    for (const operand of [test.left, test.right]) demandOrdered(operand, test.sign)
  if (test.is === 'between') {
    for (const each of [test.operand, test.lower, test.upper]) demandOrdered(each, 'BETWEEN')
    demandBounds(test.lower, test.upper, bindings)
  }
  if (test.is === 'begins') demandOrdered(test.part, 'begins_with', ['S', 'B'])
}

const demandBounds = (lower: Operand, upper: Operand, { valueAt }: Bindings): void => {
  if (!('value' in lower && 'value' in upper)) return
  const order = compareValues(valueAt(lower.value), valueAt(upper.value))
  if (order === undefined || order > 0)
    throw invalid('The BETWEEN operator requires bounds of one type, the upper not below the lower')
}
