import type { CallResult } from '../call/tool-call.ts'
import { canonicalJson } from '../core/canonical-json.ts'
import { clip } from '../core/clip.ts'
import { parseObject } from '../llm/arguments.ts'
import type { ToolCallPart } from '../llm/message.ts'
import { type Entry, stepsOf } from '../task/history.ts'
import { answersOf, type Conversation, callIdsOf, partsOf } from './conversation.ts'

/** Steps in a row with the same calls and the same answers before the model is told of it. */
export const NOTICED_ROUNDS = 3
/** And before the task fails. */
export const STOPPED_ROUNDS = 5
/** What is told of the calls that repeat, in characters. */
const MAX_TOLD_CHARS = 300

/**
 * What a step did, in whatever order: its calls, and what they answered. Whoever asks again for
 * something that changes, as a child's state does, gets other answers and goes in no circle.
 */
export const roundOf = (entry: Entry, answers: (CallResult | undefined)[]): string | undefined => {
  const parts = partsOf(entry)
  if (parts.length === 0) return undefined
  const ids = callIdsOf(entry)
  const calls = parts.map((part, index) => {
    const answer = answers[index]
    // A long answer's note names the place of its own call.
    const content = answer?.content.replaceAll(ids[index] ?? '\0', '')
    return JSON.stringify([callText(part), content, answer?.isError])
  })
  return JSON.stringify(calls.sort())
}

/** What a model is told after so many like rounds. */
export const noteOf = (rounds: number): string | undefined =>
  rounds < NOTICED_ROUNDS
    ? undefined
    : `[The platform notes: the last ${rounds} steps made the same calls and got the same answers. Do something else, wait by a tool that waits if there is one, or answer with what there is; after ${STOPPED_ROUNDS} the task is stopped.]`

/** Why a task goes in circles, if it does: its last steps since its life began are all alike. */
export const loopIn = async (
  { entries, calls }: Conversation,
  stepsFrom: number,
): Promise<string | undefined> => {
  const steps = stepsOf(entries).slice(stepsFrom)
  const last = steps.slice(-STOPPED_ROUNDS)
  const [first] = last
  // Something that was said in between is a reason to do it again.
  const isUnbroken = first !== undefined && entries.length - entries.indexOf(first) === last.length
  if (last.length < STOPPED_ROUNDS || !isUnbroken || !alike(last.map(callsText))) return undefined
  const rounds = await Promise.all(
    last.map(async entry => roundOf(entry, await answersOf(entry, calls))),
  )
  if (!alike(rounds)) return undefined
  const what = clip(partsOf(first).map(callText).join(', '), MAX_TOLD_CHARS)
  return `The last ${STOPPED_ROUNDS} steps made the same calls and got the same answers: ${what}.`
}

const alike = (texts: (string | undefined)[]): boolean =>
  texts[0] !== undefined && texts.every(text => text === texts[0])

const callsText = (entry: Entry): string | undefined => {
  const parts = partsOf(entry)
  return parts.length === 0 ? undefined : JSON.stringify(parts.map(callText).sort())
}

const callText = ({ toolName, input, state }: ToolCallPart): string => {
  const values = state === 'complete' ? parseObject(input) : undefined
  return `${toolName} ${values ? canonicalJson(values) : input}`
}
