import { resultOf } from '../call/receipt.ts'
import { notFound } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { stepsOf } from '../task/history.ts'
import { getTask, getTasks, placesOf, type Task } from '../task/task.ts'
import { type Conversation, readConversation } from './conversation.ts'

/** A task that this one, or one that it goes on for, has started, at whatever depth; NOT_FOUND otherwise. */
export const getDescendant = async (taskId: Id<'task'>, ofId: Id<'task'>): Promise<Task> => {
  const [task, own] = await Promise.all([getTask(taskId), getTask(ofId)])
  const isBelow = placesOf(own).some(id => task.lineage.includes(id))
  if (!isBelow || task.depth <= own.depth) throw notFound('sub-agent of this task', taskId)
  return task
}

/** Another task of the same tree; NOT_FOUND otherwise. */
export const getRelative = async (taskId: Id<'task'>, ofId: Id<'task'>): Promise<Task> => {
  const [task, own] = await Promise.all([getTask(taskId), getTask(ofId)])
  if (task.rootId !== own.rootId || task.id === own.id) throw notFound('sub-agent', taskId)
  return task
}

/** The children that a task's calls have started, in the order of the calls. */
export const childrenOf = async ({ calls }: Pick<Conversation, 'calls'>): Promise<Id<'task'>[]> => {
  const results = await Promise.all([...calls.values()].map(call => resultOf(call)))
  const started = results.flatMap(result =>
    !result || result.isElsewhere
      ? []
      : [result.children, result.beside, result.detached].flatMap(ids => ids ?? []),
  )
  return [...new Set(started)]
}

/** What a task, all below it and all that went on in their places have used, as far as is known. */
export type Usage = {
  tasks: number
  steps: number
  inputTokens: number
  outputTokens: number
  /** In billionths of a dollar; absent where a model without a price was asked. */
  cost?: number
}

/** Reads the histories of the whole family: for its end, not for a hot path. */
export const usageOf = async (task: Task): Promise<Usage> => {
  const usage = { tasks: 0, steps: 0, inputTokens: 0, outputTokens: 0 }
  let cost: number | undefined = 0
  let level = [task]
  while (level.length > 0) {
    const conversations = await Promise.all(level.map(({ id }) => readConversation(id)))
    usage.tasks += level.length
    for (const { entries, summaries } of conversations) {
      usage.steps += stepsOf(entries).length
      for (const paid of [...entries, ...summaries]) {
        if (!paid.usage) continue
        usage.inputTokens += paid.usage.inputTokens
        usage.outputTokens += paid.usage.outputTokens
        cost = cost === undefined || paid.cost === undefined ? undefined : cost + paid.cost
      }
    }
    const children = await Promise.all(conversations.map(childrenOf))
    const below = [...children.flat(), ...level.flatMap(({ handoverTo }) => handoverTo ?? [])]
    level = await getTasks(below)
  }
  return { ...usage, ...(cost === undefined ? {} : { cost }) }
}
