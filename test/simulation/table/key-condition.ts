import type { Labels } from './bindings.ts'
import { unsupported } from './errors.ts'
import { readTokens, takeName, takeValue } from './tokens.ts'

const SIGNS = ['=', '<', '<=', '>', '>='] as const

export type RangeTest = {
  name: string
  sign: (typeof SIGNS)[number] | 'between' | 'begins_with'
  values: string[]
}

export type KeyCondition = Labels & { tests: RangeTest[] }

/** The tests of a query's condition, which all must hold. */
export const parseKeyCondition = (text: string): KeyCondition => {
  const tokens = readTokens('KeyConditionExpression', text)
  const tests: RangeTest[] = []

  const conjunction = (): void => {
    do test()
    while (tokens.accept('AND'))
  }
  const test = (): void => {
    if (tokens.accept('(')) {
      conjunction()
      tokens.expect(')')
      return
    }
    if (tokens.accept('BEGINS_WITH')) {
      tokens.expect('(')
      const name = takeName(tokens)
      tokens.expect(',')
      tests.push({ name, sign: 'begins_with', values: [takeValue(tokens)] })
      tokens.expect(')')
      return
    }
    if (tokens.peek()?.kind === 'value')
      throw unsupported('a key condition that begins with a value')
    const name = takeName(tokens)
    if (tokens.accept('BETWEEN')) {
      const lower = takeValue(tokens)
      tokens.expect('AND')
      tests.push({ name, sign: 'between', values: [lower, takeValue(tokens)] })
      return
    }
    const sign = SIGNS.find(each => tokens.accept(each))
    if (!sign) throw tokens.fail(`Syntax error; token: "${tokens.peek()?.text ?? '<EOF>'}"`)
    tests.push({ name, sign, values: [takeValue(tokens)] })
  }

  conjunction()
  if (!tokens.isAtEnd()) throw tokens.fail(`Syntax error; token: "${tokens.peek()?.text}"`)
  return {
    tests,
    names: new Set(tests.map(({ name }) => name)),
    values: new Set(tests.flatMap(({ values }) => values)),
  }
}
