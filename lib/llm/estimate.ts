import type { Message } from './message.ts'
import type { ModelRequest } from './model.ts'
import { costOf, type Price } from './price.ts'

/** What a request may come to before its answer says what it did; no cost where there is no price. */
export type Estimate = { tokens: number; cost?: number }

/** English text and JSON have four or so, other languages fewer: rather too many tokens than too few. */
const CHARS_PER_TOKEN = 3
/** An image, at the most that Anthropic documents for one (2026-11). */
const TOKENS_PER_IMAGE = 1_600
/** What an answer usually has at most: nobody knows before. */
export const ESTIMATED_OUTPUT_TOKENS = 1_000

/** What a request's tokens and their price will be, about. */
export const estimateOf = (request: ModelRequest, price: Price | undefined): Estimate => {
  const inputTokens =
    Math.ceil(charsOf(request) / CHARS_PER_TOKEN) + imagesIn(request) * TOKENS_PER_IMAGE
  const usage = { inputTokens, outputTokens: ESTIMATED_OUTPUT_TOKENS }
  return {
    tokens: inputTokens + ESTIMATED_OUTPUT_TOKENS,
    ...(price ? { cost: costOf(price, usage) } : {}),
  }
}

/** About how many tokens a text has. */
export const tokensIn = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN)

/** The texts of a request, in characters. */
export const charsOf = ({ system, messages, tools }: ModelRequest): number =>
  system.length + JSON.stringify(tools).length + sum(messages.map(charsOfMessage))

const charsOfMessage = (message: Message): number => {
  switch (message.role) {
    case 'user':
      return message.text.length
    case 'assistant':
      return JSON.stringify(message.parts).length
    case 'tool':
      return sum(message.results.map(({ text, toolName }) => text.length + toolName.length))
    default:
      return message satisfies never
  }
}

const imagesIn = ({ messages }: ModelRequest): number =>
  sum(
    messages.map(message =>
      message.role === 'tool' ? sum(message.results.map(({ images = [] }) => images.length)) : 0,
    ),
  )

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)
