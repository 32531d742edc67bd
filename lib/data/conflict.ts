import { setTimeout as sleep } from 'node:timers/promises'
import type { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { isAnswer } from '../aws/service-error.ts'

/** How often a write that met a transaction on the same item is tried again; a client doesn't. */
export const CONFLICT_ATTEMPTS = 8
const CONFLICT_BASE_MS = 20

/** Does a write, and does it again at random intervals while it meets a transaction. */
export const despiteConflicts = async <T>(write: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (!isConflict(error) || attempt === CONFLICT_ATTEMPTS) throw error
      await sleep(Math.random() * CONFLICT_BASE_MS * 2 ** attempt)
    }
  }
}

/** A single write is refused in one way, a transaction in another. */
const isConflict = (error: unknown): boolean =>
  isAnswer(error, 'TransactionConflictException') ||
  (isCancelled(error) &&
    error.CancellationReasons?.some(({ Code }) => Code === 'TransactionConflict') === true)

export const isCancelled = (error: unknown): error is TransactionCanceledException =>
  isAnswer(error, 'TransactionCanceledException')
