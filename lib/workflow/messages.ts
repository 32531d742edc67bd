import type { ToolCall } from '../call/tool-call.ts'
import type { Id } from '../core/ids.ts'
import type { Image } from '../llm/images.ts'
import type { Message } from '../llm/message.ts'
import type { Entry } from '../task/history.ts'
import { answersOf, type Conversation, callIdsOf, partsOf } from './conversation.ts'
import { noteOf, roundOf } from './loop.ts'

/**
 * The conversation as a model reads it; every call in it is followed by what it answered, and by
 * those of its images that are to be shown. What was summarised is told by the summary alone. A
 * model that goes in circles reads so beside its last answer: it follows from the history, and is
 * the same each time.
 */
export const messagesOf = async (
  conversation: Conversation,
  images: ReadonlyMap<Id<'media'>, Image> = new Map(),
): Promise<Message[]> => {
  const summary = conversation.summaries.at(-1)
  const told: Message[] = summary ? [{ role: 'user', text: `${SUMMARY_HEAD}${summary.text}` }] : []
  return [...told, ...(await entriesAsMessages(conversation, summary?.upTo ?? 0, images))]
}

const SUMMARY_HEAD = '[The platform sums up what came before, since all of it is too long:]\n\n'

const entriesAsMessages = async (
  { entries, calls }: Conversation,
  from: number,
  images: ReadonlyMap<Id<'media'>, Image>,
): Promise<Message[]> => {
  const shown = entries.slice(from)
  const answers = await Promise.all(shown.map(entry => answersOf(entry, calls)))
  let last: string | undefined
  let rounds = 0
  return shown.flatMap((entry, index) => {
    const answered = answers[index] ?? []
    const round = roundOf(entry, answered)
    rounds = round !== undefined && round === last ? rounds + 1 : 1
    last = round
    const shownBeside = { calls, images, note: noteOf(rounds) }
    return [entry.content, ...toolMessages(entry, answered, shownBeside)]
  })
}

const toolMessages = (
  entry: Entry,
  answers: Awaited<ReturnType<typeof answersOf>>,
  {
    calls,
    images,
    note,
  }: Pick<Conversation, 'calls'> & {
    images: ReadonlyMap<Id<'media'>, Image>
    note: string | undefined
  },
): Message[] => {
  const parts = partsOf(entry)
  if (parts.length === 0) return []
  const ids = callIdsOf(entry)
  const results = parts.map(({ toolCallId, toolName }, index) => ({
    toolCallId,
    toolName,
    text: [
      answers[index]?.content ?? wordsOfStopped(calls.get(ids[index] as Id<'call'>)),
      ...(note !== undefined && index === parts.length - 1 ? [note] : []),
    ].join('\n\n'),
    isError: answers[index]?.isError ?? true,
    images: (answers[index]?.media ?? []).flatMap(id => images.get(id) ?? []),
  }))
  return [{ role: 'tool', results }]
}

/**
 * What the model reads of a call that has no answer, which is one that the task was stopped in: of
 * no word at all it concludes that nothing happened, and makes it again.
 */
const wordsOfStopped = (call: ToolCall | undefined): string => {
  switch (call?.status) {
    case 'STARTED':
    case 'UNKNOWN':
      return 'The task was stopped while this call ran, and nobody has said yet what came of it: it may have had its effect. Do not make it again before you know that it had none.'
    case 'COMPLETED':
      return 'The task was stopped while it waited for what this call has started: that was cancelled.'
    default:
      return 'The task was stopped before this call ran: it did not run.'
  }
}
