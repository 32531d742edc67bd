import { setTimeout as sleep } from 'node:timers/promises'
import { s3Command } from '../aws/s3.ts'
import { isAnswer } from '../aws/service-error.ts'
import { AppError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { currentUsage, type Usage } from '../data/usage.ts'
import type { FunctionSpec, RouteTable } from '../http/route-table.ts'
import { definition } from '../workflow/definition.ts'
import { sweep } from '../workflow/sweep.ts'
import { type RequestLine, startApi } from './api.ts'
import { createTable } from './create-table.ts'
import { openDataDirectory } from './data-directory.ts'
import { startDynamoDb } from './dynamodb.ts'
import { BUCKET, FUNCTION_PREFIX, STATE_MACHINE_ARN, setEnvironment, TABLE } from './environment.ts'
import { ensureAdmin } from './first-admin.ts'
import { type LocalFunction, startLambda } from './lambda.ts'
import { startS3 } from './s3/server.ts'
import { startScheduler } from './scheduler.ts'
import { startSes } from './ses.ts'
import { startStepFunctions } from './step-functions.ts'

/** How long a stop waits for functions that are running. */
const STOP_GRACE_MS = 2_000
const STOP_POLL_MS = 20

export type StackOptions = {
  table: RouteTable
  /** Loads a function's module, which exports its handler. */
  load: (module: string) => Promise<{ handler: LocalHandler }>
  /** Where data is kept; it must exist for longer than the stack. */
  directory: string
  /** The API's port; a free one unless given. */
  port?: number
  adminKey?: string | undefined
  onRequest?: (line: RequestLine) => void
  /** Pages that only the local runner has. */
  pages?: { fetch: (request: Request) => Response | Promise<Response> }
}

/** What the stack has used since it started, as a bill would count it. */
export type Costs = {
  dynamodb: Usage
  s3Requests: number
  stateTransitions: number
  invocations: number
}

export type Stack = {
  url: string
  /** The first admin's key, where this start made it. */
  newKey?: string
  costs: () => Costs
  /** Functions that run at this moment. */
  running: () => number
  /** Executions that wait for a token at this moment. */
  waiting: () => number
  close: () => Promise<void>
}

/**
 * Starts the whole platform on this machine: the deployed handlers and the deployed state
 * machine on embedded services. Tasks that an earlier process left unfinished go on.
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const closers: (() => unknown)[] = []
  const closing = async () => {
    for (const close of closers.toReversed()) await close()
  }
  try {
    return await start(options, closers, closing)
  } catch (error) {
    await closing()
    throw error
  }
}

const start = async (
  { table, load, directory, port = 0, adminKey, onRequest, pages }: StackOptions,
  closers: (() => unknown)[],
  close: () => Promise<void>,
): Promise<Stack> => {
  const opened = <T>(service: T, closer: (service: T) => unknown): T => {
    closers.push(() => closer(service))
    return service
  }
  const data = opened(await openDataDirectory(directory), held => held.release())
  const { secrets } = data
  const dynamodb = opened(await startDynamoDb({ file: data.databaseFile }), service =>
    service.close(),
  )
  const objects = opened(
    await startS3({ directory: data.objects, credentials: secrets }),
    service => service.close(),
  )
  const functions = new Map(
    table.functions.map(spec => [FUNCTION_PREFIX + spec.name, loaded(spec, load)]),
  )
  const lambda = opened(await startLambda({ functions: name => functions.get(name) }), service =>
    service.close(),
  )
  const stepFunctions = opened(
    await startStepFunctions({
      definition: definition({ tick: `${FUNCTION_PREFIX}tick`, park: `${FUNCTION_PREFIX}park` }),
      stateMachineArn: STATE_MACHINE_ARN,
      invoke: lambda.invoke,
    }),
    service => service.close(),
  )
  const ses = opened(await startSes(), service => service.close())
  setEnvironment(
    {
      dynamodb: dynamodb.url,
      s3: objects.url,
      lambda: lambda.url,
      stepFunctions: stepFunctions.url,
      ses: ses.url,
    },
    secrets,
  )
  await createTable(TABLE)
  await createBucket()
  const prefixed = <T extends { functionName: string }>(entry: T): T => ({
    ...entry,
    functionName: FUNCTION_PREFIX + entry.functionName,
  })
  const api = opened(
    await startApi({
      routes: table.routes.map(prefixed),
      invoke: lambda.invoke,
      stream: lambda.stream,
      streaming: new Set(
        table.functions.filter(spec => spec.streams).map(spec => FUNCTION_PREFIX + spec.name),
      ),
      port,
      ...(onRequest ? { onRequest } : {}),
      ...(pages ? { fallback: pages } : {}),
    }),
    service => service.close(),
  )
  process.env.ESPALIER_PUBLIC_URL = api.url
  opened(
    startScheduler({ schedules: table.schedules.map(prefixed), invoke: lambda.invoke }),
    service => service.close(),
  )
  // Running functions get a moment to end; what is cut off goes on at the next start.
  closers.push(() => settled(() => lambda.inFlight()))
  // Streams would run on for a minute.
  closers.push(() => lambda.endStreams())
  // After all that can fail: a key that was made and never shown would be lost.
  const { newKey } = await ensureAdmin(adminKey)
  const { looked } = await sweep({ abandoned: true })
  if (looked > 0) log('info', 'tasks-resumed', { tasks: looked })
  return {
    url: api.url,
    ...(newKey === undefined ? {} : { newKey }),
    costs: () => ({
      dynamodb: currentUsage(),
      s3Requests: sum(objects.requests()),
      stateTransitions: stepFunctions.transitions(),
      invocations: sum(lambda.invocations()),
    }),
    running: () => lambda.inFlight(),
    waiting: () => stepFunctions.waiting(),
    close,
  }
}

/** A function as the local Lambda runs it: its module is loaded with its first event. */
const loaded = (
  { module, memoryMb, timeoutSeconds }: FunctionSpec,
  load: StackOptions['load'],
): LocalFunction => ({
  memoryMb,
  timeoutSeconds,
  handler: async () => {
    const { handler } = await load(module)
    // Types say that it is there; a module that someone just wrote may say otherwise.
    if (typeof handler === 'function') return handler
    throw new AppError(
      'INVALID_DEFINITION',
      `functions/${module}.ts exports no handler. A tool's file ends with: export const handler = serve(tool)`,
    )
  },
})

type LocalHandler = Awaited<ReturnType<LocalFunction['handler']>>

const headBucket = s3Command({ name: 'HeadBucket', action: 's3:ListBucket' }, 'HEAD')
const makeBucket = s3Command({ name: 'CreateBucket', action: 's3:CreateBucket' }, 'PUT')

const createBucket = async (): Promise<void> => {
  try {
    await headBucket({ Bucket: BUCKET })
  } catch (error) {
    if (!isAnswer(error, 'NotFound')) throw error
    await makeBucket({ Bucket: BUCKET })
  }
}

const settled = async (count: () => number): Promise<void> => {
  const deadline = Date.now() + STOP_GRACE_MS
  while (count() > 0 && Date.now() < deadline) await sleep(STOP_POLL_MS)
  if (count() > 0) log('warn', 'functions-cut-off', { running: count() })
}

const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0)
