import type { ToolCallState } from './message.ts'
import type { FinishReason } from './model.ts'

/** Ends under which the last call may not be whole. Routers rewrite them, so they only break ties. */
const SUSPECT: readonly FinishReason[] = ['length', 'error', 'interrupted', 'other']

/** How a call's text came: whether any of it was streamed, and how the answer ended. */
export type Arrival = { finishReason: FinishReason; streamed: boolean }

/** Whether a call's text is a JSON object, was cut off before its end, or is broken. */
export const stateOf = (text: string, arrival: Arrival): ToolCallState => {
  const parsed = parseObject(text)
  if (parsed) return isStandIn(parsed, arrival) ? 'cut-off' : 'complete'
  const end = endOf(text)
  if (end !== 'in-string') return end === 'closed' ? 'malformed' : 'cut-off'
  // `{"a: 1}` is an object that lost a quote, or one cut off inside of a key that holds a bracket:
  // no reader of the text alone can tell. How the answer ended can.
  const endsOnBracket = text.trimEnd().endsWith('}')
  return endsOnBracket && !SUSPECT.includes(arrival.finishReason) ? 'malformed' : 'cut-off'
}

/**
 * A call's text as we keep it. Some compatible servers send none at all for a call without
 * arguments: where the answer came to a healthy end, that is an empty object.
 */
export const argumentsText = (text: string, finishReason: FinishReason): string =>
  text.trim() === '' && !SUSPECT.includes(finishReason) ? '{}' : text

/** The text as a JSON object, or undefined where it is none. */
export const parseObject = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Drivers and routers put `{}` where a call was cut off before its first character. Under `other`,
 * which some servers report for every answer, only a `{}` that nobody streamed is doubted.
 */
const isStandIn = (value: Record<string, unknown>, { finishReason, streamed }: Arrival): boolean =>
  Object.keys(value).length === 0 &&
  SUSPECT.includes(finishReason) &&
  !(finishReason === 'other' && streamed)

const OPENING: Record<string, string> = { '{': '}', '[': ']' }

/**
 * Where a text stands at its end, by its quotes and brackets alone: a JSON value has its end when
 * its first bracket is closed. A bracket that closes nothing, and a text that does not begin with
 * one, count as closed: no continuation would make them JSON.
 */
const endOf = (text: string): 'open' | 'in-string' | 'closed' => {
  const expected: string[] = []
  let inString = false
  let started = false
  for (let position = 0; position < text.length; position++) {
    const character = text.charAt(position)
    if (inString) {
      if (character === '\\') position++
      else if (character === '"') inString = false
      continue
    }
    if (/\s/.test(character)) continue
    const closing = OPENING[character]
    if (!started && !closing) return 'closed'
    started = true
    if (closing) expected.push(closing)
    else if (character === '"') inString = true
    else if (character === '}' || character === ']') {
      if (expected.pop() !== character || expected.length === 0) return 'closed'
    }
  }
  return inString ? 'in-string' : 'open'
}
