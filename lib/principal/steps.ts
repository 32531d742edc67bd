import { AppError } from '../core/errors.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'

/** A write of a transaction, with what it means where its condition fails. */
export type Step = { write: TransactionWrite; otherwise: () => AppError }

export const step = (write: TransactionWrite, message: string): Step => ({
  write,
  otherwise: () => new AppError('SIGN_IN_REFUSED', message),
})

/** All or nothing; throws what the first write that failed means. */
export const takeSteps = async (steps: Step[]): Promise<void> => {
  const outcome = await transact(steps.map(({ write }) => write))
  if (outcome.ok) return
  const [first = -1] = outcome.failed
  throw (
    steps[first]?.otherwise() ?? new AppError('INTERNAL', 'A write failed that has no condition.')
  )
}
