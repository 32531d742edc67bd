import { clip } from '../core/clip.ts'
import { type Clock, isoIn, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { is } from '../data/expression.ts'
import { small, storeLarge } from '../data/large.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { type CallResult, callKey, getCall, moveChange, type ToolCall } from './tool-call.ts'

/** A question's length and its options', in characters, and how many of these there are. */
export const MAX_QUESTION_CHARS = 4_000
export const MAX_OPTIONS = 20
export const MAX_OPTION_CHARS = 200
/** How long a question waits, at least and at most. */
export const MIN_TIMEOUT_SECONDS = 10
export const MAX_TIMEOUT_SECONDS = 7 * 86_400

/** An answer's length, in characters. */
export const MAX_ANSWER_CHARS = 50_000

/**
 * The question as a call's record holds it, from what its operation asks; any tool may ask, so what
 * is too long is cut, and the time is brought within its bounds.
 */
export const questionOf = (
  { text, options, timeoutSeconds }: NonNullable<CallResult['question']>,
  clock: Clock = systemClock,
): NonNullable<ToolCall['question']> => ({
  text: clip(text, MAX_QUESTION_CHARS),
  ...(options
    ? { options: options.slice(0, MAX_OPTIONS).map(option => clip(option, MAX_OPTION_CHARS)) }
    : {}),
  until: isoIn(secondsWithin(timeoutSeconds) * 1_000, clock),
})

const secondsWithin = (seconds: number): number =>
  Math.min(Math.max(seconds || 0, MIN_TIMEOUT_SECONDS), MAX_TIMEOUT_SECONDS)

/** Whether a call waits for an answer, which then is what the model reads of it. */
export const isAsking = ({ question, answer }: ToolCall): boolean =>
  question !== undefined && answer === undefined

/** A question that nobody answered in time. */
export const isUnanswered = (call: ToolCall, clock: Clock = systemClock): boolean =>
  isAsking(call) && (call.question?.until ?? '') <= isoNow(clock)

/** Answers a call's question. INVALID_STATE where it asks nothing, or nothing any more. */
export const answerQuestion = async (
  call: ToolCall,
  text: string,
  { by, also = [], clock = systemClock }: { by: string; also?: TransactionWrite[]; clock?: Clock },
): Promise<ToolCall> => {
  const answer = await storeLarge(call.id, { isError: false, content: text } satisfies CallResult)
  const set = { answer, answeredBy: by, answeredAt: isoNow(clock) }
  if (isAsking(call) && !isUnanswered(call, clock) && (await close(call, set, also)))
    return { ...call, ...set }
  const current = (await getCall(call.id)) ?? call
  if (!current.question) throw new AppError('INVALID_STATE', 'The call asks nothing.')
  const why = current.answeredBy
    ? 'someone has answered it'
    : 'its time is up, or its task has ended'
  throw new AppError('INVALID_STATE', `The question waits for no answer any more: ${why}.`)
}

/** Closes a question without an answer: that is an end of its own, and says no word for anyone. */
export const closeQuestion = async (call: ToolCall, words: string): Promise<ToolCall> => {
  const set = { answer: small({ isError: true, content: words } satisfies CallResult) }
  return (await close(call, set, [])) ? { ...call, ...set } : ((await getCall(call.id)) ?? call)
}

/** What the model reads of a question that nobody answered. */
export const UNANSWERED =
  'Nobody answered in time. Go on by your own judgement, or say in your answer what you need to know.'

const close = async (
  call: ToolCall,
  set: Partial<ToolCall>,
  also: TransactionWrite[],
): Promise<boolean> => {
  const update = moveChange(call, call.status, set)
  const where = { question: is.present, answer: is.absent }
  return (await transact([{ key: callKey(call.id), update, where }, ...also])).ok
}
