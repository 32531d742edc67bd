import { invalid, unsupported } from './errors.ts'

/** The longest text of one expression, in bytes (AWS's quota "Expression string"). */
const MAX_EXPRESSION_BYTES = 4_096

const TOKEN = /\s*(?:(#\w+)|(:\w+)|([A-Za-z_]\w*)|(<>|<=|>=|[=<>(),]))/y

/** `#a` and plain words name attributes, `:a` a value. */
export type Token = { kind: 'name' | 'value' | 'word' | 'sign'; text: string }
export type Tokens = ReturnType<typeof readTokens>

/** The parts of an expression, to be taken one after another. */
export const readTokens = (expression: string, text: string) => {
  const fail = (what: string) => invalid(`Invalid ${expression}: ${what};`)
  if (text.trim() === '') throw fail('The expression can not be empty')
  if (Buffer.byteLength(text) > MAX_EXPRESSION_BYTES)
    throw fail('Expression size has exceeded the maximum allowed size')
  const tokens = tokensOf(text.trimEnd())
  refuseDoubledParentheses(tokens, fail)
  let place = 0
  const peek = (ahead = 0): Token | undefined => tokens[place + ahead]
  const take = (): Token => {
    const token = tokens[place++]
    if (!token) throw fail('Syntax error; token: "<EOF>"')
    return token
  }
  const isNext = (word: string): boolean => {
    const token = peek()
    if (token?.kind === 'word') return token.text.toUpperCase() === word
    return token?.kind === 'sign' && token.text === word
  }
  const accept = (word: string): boolean => {
    const found = isNext(word)
    if (found) place += 1
    return found
  }
  return {
    fail,
    peek,
    take,
    isNext,
    accept,
    expect: (word: string): void => {
      if (!accept(word)) throw fail(`Syntax error; token: "${peek()?.text ?? '<EOF>'}"`)
    },
    isAtEnd: (): boolean => place === tokens.length,
  }
}

/** Words that may name an attribute as they are: so many others are reserved that none else may. */
const PLAIN_NAMES = ['pk', 'sk']

export const takeName = (tokens: Tokens): string => {
  const { kind, text } = tokens.take()
  if (kind === 'word' && !PLAIN_NAMES.includes(text))
    throw unsupported(`the word ${text} here (name attributes as #name)`)
  if (kind !== 'name' && kind !== 'word') throw tokens.fail(`Syntax error; token: "${text}"`)
  return text
}

export const takeValue = (tokens: Tokens): string => {
  const { kind, text } = tokens.take()
  if (kind !== 'value') throw tokens.fail(`Syntax error; token: "${text}"`)
  return text
}

const tokensOf = (text: string): Token[] => {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(text)
    if (!match) throw unsupported(`the expression ${JSON.stringify(text)} from ${at} on`)
    const [, name, value, word, sign] = match
    if (name) tokens.push({ kind: 'name', text: name })
    else if (value) tokens.push({ kind: 'value', text: value })
    else if (word) tokens.push({ kind: 'word', text: word })
    else tokens.push({ kind: 'sign', text: sign ?? '' })
  }
  return tokens
}

/** `((a))`: DynamoDB refuses a pair directly within another. */
const refuseDoubledParentheses = (tokens: Token[], fail: (what: string) => Error): void => {
  const open: number[] = []
  const closing = new Map<number, number>()
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind !== 'sign') continue
    if (text === '(') open.push(index)
    if (text === ')') closing.set(open.pop() ?? -1, index)
  }
  for (const [start, end] of closing)
    if (closing.get(start + 1) === end - 1 && tokens[start + 1]?.text === '(')
      throw fail('The expression has redundant parentheses')
}
