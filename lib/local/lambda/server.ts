import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { AppError, hasCode } from '../../core/errors.ts'
import { errorFields, log } from '../../core/log.ts'
import { answerJson, bind, isFromPage, LOOPBACK, readBody, unbind } from '../server.ts'
import { type InvokeResult, MAX_SYNC_PAYLOAD_BYTES } from './run.ts'

/**
 * Runs a function, named by its name or ARN, and resolves with its answer, also if that is an
 * error of the function's. Throws NOT_FOUND, and PAYLOAD_TOO_LARGE past 6 MB.
 */
export type Invoke = (name: string, event: unknown) => Promise<InvokeResult>

type Options = {
  invoke: Invoke
  enqueue: (name: string, event: unknown) => { requestId: string }
  port: number
}

const INVOCATIONS = /^\/2015-03-31\/functions\/([^/?]+)\/invocations/

/** The Lambda API over HTTP, as far as the SDK's InvokeCommand speaks it. */
export const serveLambda = async ({ invoke, enqueue, port }: Options) => {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (isFromPage(request)) throw new AppError('FORBIDDEN', 'Pages may not invoke functions.')
    const name = INVOCATIONS.exec(request.url ?? '')?.[1]
    if (request.method !== 'POST' || name === undefined) {
      throw new AppError('METHOD_NOT_ALLOWED', 'Only Invoke is served here.')
    }
    const body = await readBody(request, MAX_SYNC_PAYLOAD_BYTES)
    if (body === undefined) {
      throw new AppError(
        'PAYLOAD_TOO_LARGE',
        `Request must be smaller than ${MAX_SYNC_PAYLOAD_BYTES} bytes for the InvokeFunction operation`,
      )
    }
    const event = parse(body)
    const functionName = decodeURIComponent(name)

    if (request.headers['x-amz-invocation-type'] === 'Event') {
      const { requestId } = enqueue(functionName, event)
      response.writeHead(202, { 'x-amzn-requestid': requestId }).end()
      return
    }
    const result = await invoke(functionName, event)
    response.setHeader('x-amzn-requestid', result.requestId)
    response.setHeader('x-amz-executed-version', '$LATEST')
    if (result.functionError) response.setHeader('x-amz-function-error', result.functionError)
    answerJson(response, 200, result.payload)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(error => fail(response, error))
  })
  const bound = await bind(server, port)
  return { port: bound, url: `http://${LOOPBACK}:${bound}`, close: () => unbind(server) }
}

/** An event's JSON; no body at all counts as `{}`, as it does for Lambda. */
const parse = (body: Buffer): unknown => {
  if (body.length === 0) return {}
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new AppError('INVALID_JSON', 'Could not parse request body into json.', { cause })
  }
}

/** Our codes under the names and statuses that Lambda uses. */
const ERRORS = [
  { code: 'NOT_FOUND', status: 404, type: 'ResourceNotFoundException' },
  { code: 'PAYLOAD_TOO_LARGE', status: 413, type: 'RequestTooLargeException' },
  { code: 'INVALID_JSON', status: 400, type: 'InvalidRequestContentException' },
  { code: 'FORBIDDEN', status: 403, type: 'AccessDeniedException' },
  { code: 'METHOD_NOT_ALLOWED', status: 404, type: 'UnknownOperationException' },
] as const

const fail = (response: ServerResponse, error: unknown): void => {
  const known = ERRORS.find(({ code }) => hasCode(error, code))
  if (!known) log('error', 'lambda-failed', errorFields(error))
  const { status, type } = known ?? { status: 500, type: 'ServiceException' }
  const message = known && error instanceof Error ? error.message : 'The local Lambda failed.'
  if (!response.headersSent) response.setHeader('x-amzn-errortype', type)
  answerJson(response, status, { Type: known ? 'User' : 'Service', Message: message })
}
