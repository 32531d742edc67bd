import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { TooManyRequestsException } from '@aws-sdk/client-lambda'
import { dynamodb } from '../../lib/aws/dynamodb.ts'
import { lambda } from '../../lib/aws/lambda.ts'
import * as aws from '../../lib/aws/s3.ts'
import { stepFunctions } from '../../lib/aws/step-functions.ts'
import { lives } from './clock.ts'
import { currentRun } from './current.ts'
import { type Input, kindOfCommand, labelOf, writtenKeys } from './label.ts'
import type { Life } from './life.ts'
import { s3 } from './objects.ts'
import type { Run } from './run.ts'

/** As `lib/aws` has them: three attempts, but one of Lambda's client. */
const ATTEMPTS = 3
const BACKOFF_MS = 100
/** How much later an operation is invoked again that is invoked twice. */
const TWICE_MS = 30_000

/** What a client sees where a connection broke after the request was sent: it tries again. */
class Lost extends Error {
  override name = 'TimeoutError'
}

const KINDS = { before: 'killed before a command', after: 'killed after a command' } as const

/** Answers every command of every client here, in place of sending it. */
export const replaceClients = (): void => {
  for (const { middlewareStack } of [dynamodb(), aws.s3(), lambda(), stepFunctions()])
    middlewareStack.add(
      (_, { commandName }) =>
        async ({ input }) => ({ output: await send(currentRun(), commandName, input as Input) }),
      { step: 'initialize', priority: 'high', name: 'simulation', override: true },
    )
}

const send = async (run: Run, name: string, input: Input): Promise<object> => {
  const life = lives.getStore()
  if (!life) return perform(run, name, input)
  const attempts = name === 'InvokeCommand' ? 1 : ATTEMPTS
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce(run, { life, name, input })
    } catch (error) {
      if (!isTransient(error) || attempt === attempts) throw error
      await run.clock.sleep(run.random.next() * BACKOFF_MS * 2 ** attempt)
    }
  }
}

const isTransient = (error: unknown): boolean =>
  error instanceof Lost || error instanceof ProvisionedThroughputExceededException

const attemptOnce = async (
  run: Run,
  { life, name, input }: { life: Life; name: string; input: Input },
): Promise<object> => {
  const { functions, trace } = run
  const label = labelOf(name, input)
  await functions.pass(life, label, KINDS)
  refuse(run, life, name, input)
  run.counts.commands += 1
  let outcome: { answer: object } | { error: unknown }
  try {
    outcome = { answer: await perform(run, name, input) }
  } catch (error) {
    outcome = { error }
    trace.add(life, `  ${name} → ${(error as Error).name}`)
  }
  run.watch.written(life, name, input)
  if (writtenKeys(name, input)[0]?.startsWith('ledger#')) life.ledgerAt = run.scheduler.picked()
  await functions.leave(life, KINDS)
  if (loses(run, name)) {
    trace.add(life, `  ${name} → its answer is lost`)
    throw new Lost('The answer was lost.')
  }
  if ('error' in outcome) throw outcome.error
  return outcome.answer
}

/** What a service may refuse before it does anything. */
const refuse = (run: Run, life: Life, name: string, input: Input): void => {
  const { mishaps, trace } = run
  const metadata = { message: 'Simulated.', $metadata: {} }
  const refused = (error: Error): never => {
    trace.add(life, `  ${name} → refused: ${error.name}`)
    throw error
  }
  switch (kindOfCommand(name)) {
    case 'invoke':
      if (mishaps.happens('invocation refused')) refused(new TooManyRequestsException(metadata))
      return
    case 'write':
      if (mishaps.happens('conflict')) refused(conflictOf(name, input))
      if (mishaps.happens('throttled'))
        refused(new ProvisionedThroughputExceededException(metadata))
      return
    case 'read':
      if (mishaps.happens('throttled'))
        refused(new ProvisionedThroughputExceededException(metadata))
      return
    default:
      return
  }
}

const conflictOf = (name: string, input: Input): Error => {
  const about = { message: 'Simulated.', $metadata: {} }
  if (name !== 'TransactWriteItemsCommand') return new TransactionConflictException(about)
  const reasons = (input.TransactItems as unknown[]).map((_, index) => ({
    Code: index === 0 ? 'TransactionConflict' : 'None',
  }))
  return new TransactionCanceledException({ ...about, CancellationReasons: reasons })
}

/** Whether what was done is never heard of. */
const loses = ({ mishaps }: Run, name: string): boolean => {
  if (name === 'SendTaskSuccessCommand') return mishaps.happens('token call lost')
  if (name === 'StartExecutionCommand') return mishaps.happens('start answer lost')
  if (name === 'InvokeCommand') return mishaps.happens('invocation answer lost')
  return kindOfCommand(name) === 'write' && mishaps.happens('answer lost')
}

const perform = (run: Run, name: string, input: Input): object | Promise<object> => {
  if (name in s3) return s3[name as keyof typeof s3](run.objects, input as never)
  if (name === 'InvokeCommand') return invoke(run, input)
  const machine = run.machine.answers[name]
  if (machine) return machine(input as never)
  return readOrWrite(run, name, input)
}

/** Reads that see what was a while ago unless they ask for what is: those of indexes can't. */
const LATE = { GetItemCommand: true, QueryCommand: true }

const readOrWrite = (run: Run, name: string, input: Input): object => {
  const { mishaps, lateRead, table } = run
  if (name in LATE && !input.ConsistentRead && mishaps.happens('late read'))
    return lateRead(name, input)
  if (name === 'BatchGetItemCommand' && mishaps.happens('keys left out of a batch'))
    return leftOut(run, input)
  return table.perform(name, input)
}

type Requests = Record<string, { Keys: object[] }>

/** DynamoDB may answer a part of a batch only; here, without its last key. */
const leftOut = ({ table }: Run, input: Input): object => {
  const [first] = Object.entries(input.RequestItems as Requests)
  if (!first || first[1].Keys.length < 2) return table.perform('BatchGetItemCommand', input)
  const [name, { Keys, ...rest }] = first
  const some = { ...input, RequestItems: { [name]: { Keys: Keys.slice(0, -1), ...rest } } }
  return {
    ...table.perform('BatchGetItemCommand', some),
    UnprocessedKeys: { [name]: { Keys: Keys.slice(-1), ...rest } },
  }
}

const invoke = async (run: Run, input: Input): Promise<object> => {
  const name = String(input.FunctionName)
  const text = typeof input.Payload === 'string' ? input.Payload : '{}'
  const event = JSON.parse(text)
  const about = String(event.callId ?? event.taskId ?? '').slice(-5)
  if (input.InvocationType === 'Event') {
    run.functions.enqueue(name, event, about)
    return {}
  }
  // Whoever asked hears of one run, and another one comes with it or later.
  if (run.mishaps.happens('operation invoked twice'))
    run.background(async () => {
      if (run.random.chance(0.5)) await run.clock.sleep(run.random.around(TWICE_MS))
      await run.functions.invoke(name, event, about)
    })
  const { error } = await run.functions.invoke(name, event, about)
  return error ? { FunctionError: 'Unhandled' } : {}
}
