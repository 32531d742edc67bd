import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import * as z from 'zod'
import { errorFields, log } from '../core/log.ts'
import { answerJson, bind, isFromPage, LOOPBACK, readBody, unbind } from './server.ts'
import { prepare } from './step-functions/definition.ts'
import { namedError } from './step-functions/error.ts'
import { createExecutions } from './step-functions/executions.ts'
import { MAX_REQUEST_BYTES } from './step-functions/limits.ts'
import { operationsOf } from './step-functions/operations.ts'
import type { InvokeFunction } from './step-functions/tasks.ts'
import { createTokens } from './step-functions/tokens.ts'

export type LocalStepFunctions = {
  url: string
  port: number
  /** State transitions as AWS bills them: each state entered, and each retry. */
  transitions: () => number
  /** Executions that have not ended. */
  running: () => number
  /** Token waits that are open. */
  waiting: () => number
  close: () => Promise<void>
}

type Options = {
  definition: object | string
  stateMachineArn: string
  invoke: InvokeFunction
  port?: number
}

/**
 * Starts the Step Functions API on 127.0.0.1 with one state machine, which runs the definition
 * that is deployed. It checks no signatures, and nothing but this machine reaches it.
 *
 * Executions live in memory and end with the process: after a restart their names are free and
 * their tokens gone, and whoever started them must start new ones, as the sweeper does.
 * Throws VALIDATION_ERROR for a definition that AWS would refuse.
 */
export const startStepFunctions = async (options: Options): Promise<LocalStepFunctions> => {
  const { definition, stateMachineArn, invoke, port = 0 } = options
  const tokens = createTokens()
  const executions = createExecutions({ ...prepare(definition), stateMachineArn, tokens, invoke })
  const operations = operationsOf({ executions, tokens, stateMachineArn })

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (isFromPage(request)) throw namedError('AccessDeniedException', 'Pages may not call this.')
    const body = await readBody(request, MAX_REQUEST_BYTES)
    if (body === undefined) throw namedError('ValidationException', 'The request is too large.')
    const target = String(request.headers['x-amz-target']).replace(/^AWSStepFunctions\./, '')
    const operation = Object.entries(operations).find(([name]) => name === target)?.[1]
    if (!operation) throw namedError('UnknownOperationException', `There is no ${target} here.`)
    answerJson(response, 200, operation(JSON.parse(body.toString('utf8'))), CONTENT_TYPE)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(error => fail(response, error))
  })
  const bound = await bind(server, port)
  return {
    url: `http://${LOOPBACK}:${bound}`,
    port: bound,
    transitions: executions.transitions,
    running: executions.running,
    waiting: tokens.size,
    close: async () => {
      executions.stopAll()
      await unbind(server)
    },
  }
}

const CONTENT_TYPE = 'application/x-amz-json-1.0'

/** The errors that a caller may see, by AWS's names; any other is a defect of ours. */
const CALLER_ERRORS = [
  'AccessDeniedException',
  'ExecutionAlreadyExists',
  'ExecutionDoesNotExist',
  'InvalidExecutionInput',
  'InvalidName',
  'InvalidOutput',
  'InvalidToken',
  'StateMachineDoesNotExist',
  'TaskTimedOut',
  'UnknownOperationException',
  'ValidationException',
]

const fail = (response: ServerResponse, error: unknown): void => {
  const { name, message } = asNamed(error)
  if (CALLER_ERRORS.includes(name)) {
    answerJson(response, 400, { __type: `com.amazonaws.states#${name}`, message }, CONTENT_TYPE)
    return
  }
  log('error', 'step-functions-failed', errorFields(error))
  answerJson(response, 500, { __type: 'InternalFailure', message: 'It failed.' }, CONTENT_TYPE)
}

const asNamed = (error: unknown): Error => {
  if (error instanceof z.ZodError) return namedError('ValidationException', z.prettifyError(error))
  if (error instanceof SyntaxError) return namedError('ValidationException', 'The body is no JSON.')
  return error instanceof Error ? error : new Error(String(error))
}
