import {
  type BatchGetItemCommandInput,
  type BatchGetItemCommandOutput,
  type CancellationReason,
  DynamoDBServiceException,
  InternalServerError,
  type KeysAndAttributes,
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  ThrottlingException,
  TransactionConflictException,
  TransactionInProgressException,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb'
import { cancelled } from './table/errors.ts'
import type { FakeTable } from './table.ts'

/** How often the SDK's client of DynamoDB sends a request by itself, all in all. */
export const SDK_ATTEMPTS = 4

/** How far a read that isn't consistent lags, unless told otherwise; AWS promises no bound. */
const LAG_MS = 5_000

export type FaultKind =
  /** Another transaction is at work on the same items: nothing is written. */
  | 'conflict'
  /** More was asked of the table than it can do at a time: nothing is done. */
  | 'throttled'
  /** A request that never arrives. */
  | 'request lost'
  /** What was asked was done, or refused, and nobody hears of it. */
  | 'answer lost'
  /** A read that need not be consistent sees items as they were. */
  | 'late read'
  /** A batch's answer leaves some keys to another request. */
  | 'keys left out'

export type FaultOptions = {
  /** From 0 up to and without 1, as `Math.random`. */
  random: () => number
  /** How likely each kind is, for each request that it can befall; none unless named. */
  rates: Partial<Record<FaultKind, number>>
  lagMs?: number
  onFault?: (kind: FaultKind, commandName: string) => void
}

/**
 * A table that does what no emulator does. It stands where the SDK's middleware of the first step
 * does, above the SDK's own retries, so it does these itself: what the caller sees of a fault is
 * what is left of it after them.
 */
export const withFaults = (
  table: FakeTable,
  options: FaultOptions,
): Pick<FakeTable, 'perform'> => ({
  perform: (commandName, input) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return performOnce(table, { commandName, input, isRetry: attempt > 1 }, options)
      } catch (error) {
        if (attempt === SDK_ATTEMPTS || !isRetriedBySdk(error)) throw error
      }
    }
  },
})

type Request = { commandName: string; input: object; isRetry: boolean }

const performOnce = (table: FakeTable, request: Request, options: FaultOptions): object => {
  const { commandName, input } = request
  const { random, rates, onFault } = options
  const happens = (kind: FaultKind): boolean => {
    const rate = rates[kind]
    if (!rate || random() >= rate) return false
    onFault?.(kind, commandName)
    return true
  }
  if (happens('request lost')) throw connectionLost()
  if (happens('throttled')) throw throttlingOf(request, random)
  if (isWrite(commandName) && happens('conflict')) throw conflictOf(commandName, input, random)

  const answer = (): object => {
    if (mayBeLate(commandName, input) && happens('late read'))
      return table.performLate(commandName, input, { random, lagMs: options.lagMs ?? LAG_MS })
    if (commandName === 'BatchGetItemCommand' && happens('keys left out'))
      return leaveKeysOut(table, input as BatchGetItemCommandInput, random)
    return table.perform(commandName, input)
  }
  const outcome = settled(answer)
  if (happens('answer lost')) throw answerLost(random)
  if ('error' in outcome) throw outcome.error
  return outcome.output
}

const settled = (work: () => object): { output: object } | { error: Error } => {
  try {
    return { output: work() }
  } catch (error) {
    if (error instanceof DynamoDBServiceException) return { error }
    throw error
  }
}

const isWrite = (commandName: string): boolean =>
  ['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems'].includes(
    commandName.replace('Command', ''),
  )

const mayBeLate = (commandName: string, input: object): boolean =>
  (commandName === 'QueryCommand' || commandName === 'GetItemCommand') &&
  (input as { ConsistentRead?: boolean }).ConsistentRead !== true

/** Whether the SDK sends a request again after this, as its retry strategy "standard" has it. */
export const isRetriedBySdk = (error: unknown): boolean =>
  error instanceof Error && RETRIED.includes(error.name)

const RETRIED = [
  'TimeoutError',
  'InternalServerError',
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TransactionInProgressException',
]

const about = (message: string, httpStatusCode = 400) => ({
  message,
  $metadata: { httpStatusCode },
})

/** What the SDK makes of a connection that broke. */
export const connectionLost = (): Error =>
  Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' })

/** After an error of the service's own, too, nobody knows whether a write was done. */
export const answerLost = (random: () => number): Error =>
  random() < 0.5 ? connectionLost() : new InternalServerError(about('Internal server error', 500))

/** A refusal for too many requests, in one of its forms. */
export const throttlingOf = (
  { commandName, input, isRetry }: Request,
  random: () => number,
): Error => {
  const forms: (() => Error)[] = [
    () => new ProvisionedThroughputExceededException(about('The level of throughput is exceeded')),
    () => new ThrottlingException(about('Throughput exceeds the current capacity of your table')),
    () => new RequestLimitExceeded(about('Throughput exceeds the current limit of your account')),
  ]
  if (commandName === 'TransactWriteItemsCommand') {
    // That one the SDK does not try again.
    forms.push(() => cancelledBy(input, 'ThrottlingError', random))
    if (isRetry)
      forms.push(() => new TransactionInProgressException(about('The transaction is in progress')))
  }
  return (forms[Math.floor(random() * forms.length)] as () => Error)()
}

/** A write that met a transaction: refused in one way by itself, in another within one of its own. */
export const conflictOf = (commandName: string, input: object, random: () => number): Error =>
  commandName === 'TransactWriteItemsCommand'
    ? cancelledBy(input, 'TransactionConflict', random)
    : new TransactionConflictException(about('Transaction is ongoing for the item'))

/** Cancels for one of the writes at least. */
const cancelledBy = (input: object, Code: string, random: () => number): Error => {
  const { TransactItems: writes = [] } = input as TransactWriteItemsCommandInput
  const first = Math.floor(random() * writes.length)
  const reasons: CancellationReason[] = writes.map((_, index) => ({
    Code: index === first || random() < 0.25 ? Code : 'None',
  }))
  return cancelled(reasons)
}

/** One key at least is answered: were it none, DynamoDB would refuse the request. */
const leaveKeysOut = (
  table: FakeTable,
  input: BatchGetItemCommandInput,
  random: () => number,
): object => {
  const [name, request] = Object.entries(input.RequestItems ?? {})[0] as [string, KeysAndAttributes]
  const keys = request.Keys ?? []
  const count = 1 + Math.floor(random() * (keys.length - 1))
  const only = (some: KeysAndAttributes['Keys']) => ({ [name]: { ...request, Keys: some } })
  const answer = table.perform('BatchGetItemCommand', {
    ...input,
    RequestItems: only(keys.slice(0, count)),
  }) as BatchGetItemCommandOutput
  const rest = [...(answer.UnprocessedKeys?.[name]?.Keys ?? []), ...keys.slice(count)]
  return { ...answer, UnprocessedKeys: rest.length > 0 ? only(rest) : {} }
}
