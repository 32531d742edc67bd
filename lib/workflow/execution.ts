import type { ExecutionStatus } from '@aws-sdk/client-sfn'
import { isAnswer } from '../aws/service-error.ts'
import { describeExecution, startExecution } from '../aws/step-functions.ts'
import { type Clock, isoIn, systemClock } from '../core/clock.ts'
import { config } from '../core/config.ts'
import { newNonce } from '../core/ids.ts'
import { errorFields, log } from '../core/log.ts'
import { dueIndex } from '../data/due.ts'
import { is, type Where } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { START_GRACE_MS } from '../task/create.ts'
import { OPEN, Task, taskKey } from '../task/task.ts'

/**
 * Starts the next generation of a task's execution: the generation is raised first, so that of
 * two who try only one starts, and ticks of an older execution exit. False where someone else
 * did, or the task has ended.
 */
export const startGeneration = async (
  task: Task,
  clock: Clock = systemClock,
  {
    set = {},
    where = {},
  }: { set?: Partial<Pick<Task, 'stalls' | 'stalledAt'>>; where?: Where } = {},
): Promise<boolean> => {
  const due = dueIndex(task.id, isoIn(START_GRACE_MS, clock))
  const outcome = await table.update(
    Task,
    taskKey(task.id),
    { set: { ...set, ticks: 0, ...due }, remove: ['token'], add: { generation: 1 } },
    {
      claim: newNonce(),
      where: { ...where, generation: task.generation, status: is.oneOf(OPEN) },
    },
  )
  if (!outcome.ok) return false
  const { id, generation } = outcome.item
  try {
    await startExecution({
      stateMachineArn: config('stateMachineArn'),
      name: executionName(outcome.item),
      input: JSON.stringify({ taskId: id, generation }),
    })
  } catch (error) {
    if (!isAnswer(error, 'ExecutionAlreadyExists')) throw error
    // Of this task's making: the first answer was lost. Names are kept for 90 days, so one may also be
    // another life's, where the table was restored from a backup: the next is free, or the one after.
    if (!(await isExecuting(outcome.item))) return startGeneration(outcome.item, clock)
  }
  log('info', 'execution-started', { taskId: id, generation })
  return true
}

/** How the execution of a task's current generation stands; undefined where there is none. */
export const executionStatus = async (task: Task): Promise<ExecutionStatus | undefined> => {
  try {
    return (await describeExecution({ executionArn: executionArn(task) })).status
  } catch (error) {
    if (isAnswer(error, 'ExecutionDoesNotExist')) return undefined
    throw error
  }
}

/** Whether the execution of a task's current generation is there and still going. */
export const isExecuting = async (task: Task): Promise<boolean> =>
  (await executionStatus(task)) === 'RUNNING'

const executionName = ({ id, generation }: Task): string => `${id}-${generation}`

/** arn:…:stateMachine:NAME becomes arn:…:execution:NAME:<execution>. */
const executionArn = (task: Task): string =>
  `${config('stateMachineArn').replace(':stateMachine:', ':execution:')}:${executionName(task)}`

/** Starts a task that was just made; one that was made before has been started. */
export const launch = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  if (task.generation === 0) await begin(task, clock)
}

/**
 * Starts a task whose next execution is due. It is there and will run: that it did not start at
 * once is no failure of whoever asked for it, and the sweeper starts it.
 */
export const begin = async (task: Task, clock: Clock = systemClock): Promise<void> => {
  try {
    await startGeneration(task, clock)
  } catch (error) {
    log('warn', 'start-left-to-sweeper', { taskId: task.id, ...errorFields(error) })
  }
}
