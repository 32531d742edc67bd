import type { ToolCall } from '../call/tool-call.ts'
import { stepsOf } from '../task/history.ts'
import type { Task } from '../task/task.ts'
import { trace } from '../trace/tracing.ts'
import { answerOf, type Conversation, callIdsOf, readConversation } from './conversation.ts'

/**
 * Tells of the calls of a task's latest step, where tracing is on: whoever has added what follows
 * it, or has ended the task, is the only one who does, and nothing of them changes any more. What
 * there is goes on its way, so that a function that dies later has told of it.
 */
export const tellStep = (task: Task, conversation: Conversation) =>
  trace(({ tellCalls, sendOn }) => {
    const { step, calls } = latestOf(conversation)
    if (step) tellCalls(task, step, calls)
    sendOn()
  })

/** Tells of a task that has ended, and of what its latest step had asked for, as it was then. */
export const tellEnd = (task: Task) =>
  trace(async ({ tellTask, tellCalls }) => {
    tellTask(task)
    if (task.status === 'COMPLETED' && task.handoverTo === undefined) return
    const { step, calls } = latestOf(await readConversation(task.id))
    if (step) tellCalls(task, step, await Promise.all(calls.map(call => waitEnded(call, task))))
  })

const latestOf = ({ entries, calls }: Conversation) => {
  const step = stepsOf(entries).at(-1)
  return { step, calls: step ? callIdsOf(step).flatMap(id => calls.get(id) ?? []) : [] }
}

/** What waited for children, or for a person, did so until its task ended. */
const waitEnded = async (call: ToolCall, { endedAt }: Task): Promise<ToolCall> =>
  endedAt === undefined || (await answerOf(call)) ? call : { ...call, answeredAt: endedAt }
