import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { namedError } from './error.ts'
import type { Execution, Executions } from './executions.ts'
import { MAX_DATA_BYTES, MAX_NAME_CHARS } from './limits.ts'
import type { Tokens } from './tokens.ts'

/** JSON text of at most 256 KB; its size is the request's fault, its form has an error of its own. */
const Data = z
  .string()
  .refine(text => Buffer.byteLength(text) <= MAX_DATA_BYTES, `longer than ${MAX_DATA_BYTES} bytes`)

const Page = { maxResults: z.int().max(1_000).optional(), nextToken: z.string().optional() }
const TaskToken = { taskToken: z.string().max(2_048) }
const Failure = { error: z.string().max(256).optional(), cause: z.string().max(32_768).optional() }
const STATUSES = ['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'] as const

const StartExecution = z.object({
  stateMachineArn: z.string(),
  name: z.string().optional(),
  input: Data.default('{}'),
})
const ByArn = z.object({ executionArn: z.string() })
const StopExecution = z.object({ executionArn: z.string(), ...Failure })
const SendTaskSuccess = z.object({ ...TaskToken, output: Data })
const SendTaskFailure = z.object({ ...TaskToken, ...Failure })
const SendTaskHeartbeat = z.object(TaskToken)
const ListExecutions = z.object({ statusFilter: z.enum(STATUSES).optional(), ...Page })
const GetHistory = z.object({
  executionArn: z.string(),
  reverseOrder: z.boolean().default(false),
  ...Page,
})

type Options = { executions: Executions; tokens: Tokens; stateMachineArn: string }

/** The API's operations by name: from a request's parsed body to an answer's. */
export const operationsOf = ({ executions, tokens, stateMachineArn }: Options) => ({
  StartExecution: (body: unknown) => {
    const { stateMachineArn: arn, name = randomUUID(), input } = StartExecution.parse(body)
    if (arn !== stateMachineArn) {
      throw namedError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`)
    }
    checkName(name)
    parseJson(input, 'InvalidExecutionInput')
    const execution = executions.start(name, input)
    return { executionArn: execution.arn, startDate: seconds(execution.startedAt) }
  },

  StopExecution: (body: unknown) => {
    const { executionArn, ...failure } = StopExecution.parse(body)
    const execution = executions.find(executionArn)
    execution.stop({ status: 'ABORTED', ...defined(failure) })
    return { stopDate: seconds('stoppedAt' in execution ? execution.stoppedAt : Date.now()) }
  },

  DescribeExecution: (body: unknown) => {
    const { arn, name, input, startedAt, ...execution } = executions.find(
      ByArn.parse(body).executionArn,
    )
    return {
      executionArn: arn,
      stateMachineArn,
      name,
      input,
      inputDetails: { included: true },
      status: execution.status,
      startDate: seconds(startedAt),
      ...('stoppedAt' in execution && { stopDate: seconds(execution.stoppedAt) }),
      ...('output' in execution && {
        output: execution.output,
        outputDetails: { included: true },
      }),
      ...('error' in execution && { error: execution.error }),
      ...('cause' in execution && { cause: execution.cause }),
    }
  },

  ListExecutions: (body: unknown) => {
    const { statusFilter, ...page } = ListExecutions.parse(body)
    const newestFirst = executions.list().reverse()
    const matching = newestFirst.filter(({ status }) => (statusFilter ?? status) === status)
    const { items, nextToken } = paged(matching, page)
    return { executions: items.map(summaryOf(stateMachineArn)), nextToken }
  },

  GetExecutionHistory: (body: unknown) => {
    const { executionArn, reverseOrder, ...page } = GetHistory.parse(body)
    const events = executions.find(executionArn).history.events()
    const { items, nextToken } = paged(reverseOrder ? events.toReversed() : events, page)
    return {
      events: items.map(({ id, type, timestamp, stateName, error }) => ({
        id,
        previousEventId: id - 1,
        type,
        timestamp: seconds(timestamp),
        ...(type.endsWith('StateEntered') && { stateEnteredEventDetails: { name: stateName } }),
        ...(type.endsWith('StateExited') && { stateExitedEventDetails: { name: stateName } }),
        ...(type === 'TaskFailed' && { taskFailedEventDetails: { ...TASK, error } }),
      })),
      nextToken,
    }
  },

  SendTaskSuccess: (body: unknown) => {
    const { taskToken, output } = SendTaskSuccess.parse(body)
    tokens.succeed(taskToken, parseJson(output, 'InvalidOutput'))
    return {}
  },

  SendTaskFailure: (body: unknown) => {
    const { taskToken, error = 'States.TaskFailed', cause = '' } = SendTaskFailure.parse(body)
    tokens.fail(taskToken, namedError(error, cause))
    return {}
  },

  SendTaskHeartbeat: (body: unknown) => {
    tokens.heartbeat(SendTaskHeartbeat.parse(body).taskToken)
    return {}
  },
})

const TASK = { resourceType: 'lambda', resource: 'invoke' }

/** AWS's timestamps in JSON: seconds since 1970, with milliseconds behind the point. */
const seconds = (milliseconds: number): number => milliseconds / 1_000

const FORBIDDEN_IN_NAME = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]/u

const checkName = (name: string): void => {
  const isGood = name.length > 0 && name.length <= MAX_NAME_CHARS && !FORBIDDEN_IN_NAME.test(name)
  if (!isGood) throw namedError('InvalidName', `Invalid Name: '${name}'`)
}

const parseJson = (text: string, errorName: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw namedError(errorName, `${errorName}: ${String(cause)}`)
  }
}

const defined = ({ error, cause }: { error?: string | undefined; cause?: string | undefined }) => ({
  ...(error !== undefined && { error }),
  ...(cause !== undefined && { cause }),
})

const summaryOf = (stateMachineArn: string) => (execution: Execution) => ({
  executionArn: execution.arn,
  stateMachineArn,
  name: execution.name,
  status: execution.status,
  startDate: seconds(execution.startedAt),
  ...('stoppedAt' in execution && { stopDate: seconds(execution.stoppedAt) }),
})

const DEFAULT_PAGE_SIZE = 100

type PageRequest = { maxResults?: number | undefined; nextToken?: string | undefined }

const paged = <T>(all: readonly T[], { maxResults, nextToken }: PageRequest) => {
  const from = nextToken === undefined ? 0 : Number(nextToken)
  const to = from + (maxResults || DEFAULT_PAGE_SIZE)
  return { items: all.slice(from, to), nextToken: to < all.length ? String(to) : undefined }
}
