import {
  type CancellationReason,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'

/** DynamoDB requests that were sent, by command. */
export type Requests = Record<string, number>

const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']

/** What all middleware has in common, as far as it is looked at here. */
type Stack = {
  add: (
    middleware: (
      next: (args: { input: object }) => Promise<unknown>,
      context: { commandName: string },
    ) => (args: { input: object }) => Promise<unknown>,
    options: { step: 'initialize'; priority: 'high'; name: string },
  ) => void
}

/**
 * Counts what this process asks of DynamoDB from here on, also what is refused there, and refuses
 * some of the writes itself: no emulator has two transactions meet on an item.
 */
export const watchRequests = () => {
  const sent: Requests = {}
  let waitedMs = 0
  let conflictRate = 0
  const stack = dynamodb().middlewareStack as unknown as Stack
  stack.add(
    (next, { commandName }) =>
      async args => {
        const name = commandName.replace(/Command$/, '')
        // What the bench itself looks at is no request of the platform's.
        if (BY_BENCH in args.input) return next(args)
        sent[name] = (sent[name] ?? 0) + 1
        if (WRITES.includes(name) && Math.random() < conflictRate)
          throw conflictOf(name, args.input)
        const started = performance.now()
        try {
          return await next(args)
        } finally {
          waitedMs += performance.now() - started
        }
      },
    { step: 'initialize', priority: 'high', name: 'bench' },
  )
  return {
    sent: (): Requests => ({ ...sent }),
    /** For how long all of them were waited for, the SDK's own work among it. */
    waitedMs: (): number => waitedMs,
    /** Of the writes from here on, how many meet another transaction: from 0 to 1. */
    conflicts: (rate: number): void => {
      conflictRate = rate
    },
  }
}

/** Marks the input of a command that isn't counted. */
export const BY_BENCH = Symbol('by bench')

/** A write by itself is refused in one way, a transaction in another. */
const conflictOf = (name: string, input: object): Error => {
  const about = { message: 'Another transaction is at work on the item.', $metadata: {} }
  if (name !== 'TransactWriteItems') return new TransactionConflictException(about)
  const { TransactItems = [] } = input as { TransactItems?: object[] }
  const CancellationReasons: CancellationReason[] = TransactItems.map((_, index) => ({
    Code: index === 0 ? 'TransactionConflict' : 'None',
  }))
  return new TransactionCanceledException({ ...about, CancellationReasons })
}
