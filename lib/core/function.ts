import { AppError } from './errors.ts'
import { errorFields, log, withLogIds } from './log.ts'

/**
 * Runs what a function was called for, with these ids in its log lines. What it throws is logged
 * here and thrown on as an error of ours: the runtime logs what leaves a handler as it is, and
 * Step Functions keeps it as a cause that anyone reads who may look at an execution.
 */
export const runFunction = <T>(ids: Record<string, string>, work: () => Promise<T>): Promise<T> =>
  withLogIds(ids, async () => {
    try {
      return await work()
    } catch (error) {
      log('error', 'function-failed', errorFields(error))
      if (error instanceof AppError) throw new AppError(error.code, error.message)
      throw new AppError('INTERNAL', 'The function failed; its log says where.')
    }
  })
