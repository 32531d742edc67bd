import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { stepFunctions } from '../aws/step-functions.ts'
import { type Clock, isoIn, systemClock } from '../core/clock.ts'
import { config } from '../core/config.ts'
import { log } from '../core/log.ts'
import * as table from '../data/table.ts'
import { START_GRACE_MS } from '../task/create.ts'
import { dueIndex, OPEN, Task, taskKey } from '../task/task.ts'

/**
 * Starts the next generation of a task's execution: the generation is raised first, so that of
 * two who try only one starts, and ticks of an older execution exit. False where someone else
 * did, or the task has ended.
 */
export const startGeneration = async (task: Task, clock: Clock = systemClock): Promise<boolean> => {
  const due = isoIn(START_GRACE_MS, clock)
  const outcome = await table.update(
    Task,
    taskKey(task.id),
    { set: { ticks: 0, ...dueIndex(task.id, due) }, remove: ['token'], add: { generation: 1 } },
    { where: { generation: task.generation, status: { test: 'in', values: OPEN } } },
  )
  if (!outcome.ok) return false
  const { id, generation } = outcome.item
  try {
    await stepFunctions().send(
      new StartExecutionCommand({
        stateMachineArn: config('stateMachineArn'),
        name: executionName(outcome.item),
        input: JSON.stringify({ taskId: id, generation }),
      }),
    )
  } catch (error) {
    // The SDK tried again after an answer that was lost.
    if (!(error instanceof ExecutionAlreadyExists)) throw error
  }
  log('info', 'execution-started', { taskId: id, generation })
  return true
}

/** Whether the execution of a task's current generation is there and still going. */
export const isExecuting = async (task: Task): Promise<boolean> => {
  try {
    const response = await stepFunctions().send(
      new DescribeExecutionCommand({ executionArn: executionArn(task) }),
    )
    return response.status === 'RUNNING'
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return false
    throw error
  }
}

const executionName = ({ id, generation }: Task): string => `${id}-${generation}`

/** arn:…:stateMachine:NAME becomes arn:…:execution:NAME:<execution>. */
const executionArn = (task: Task): string =>
  `${config('stateMachineArn').replace(':stateMachine:', ':execution:')}:${executionName(task)}`
