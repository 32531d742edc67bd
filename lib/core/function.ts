import { AppError } from './errors.ts'
import { endInvocation, errorFields, figures, type LogIds, log, withLogIds } from './log.ts'

/**
 * Runs what a function was called for, with these ids in its log lines, and a line at its end. What
 * it throws is logged here and thrown on as an error of ours: the runtime logs what leaves a handler
 * as it is, and Step Functions keeps it as a cause that anyone reads who may look at an execution.
 */
export const runFunction = <T>(ids: LogIds, work: () => Promise<T>): Promise<T> =>
  withLogIds(ids, async () => {
    const started = performance.now()
    try {
      const answer = await work()
      log('info', 'function-run', {
        milliseconds: Math.round(performance.now() - started),
        ...figures(),
      })
      return answer
    } catch (error) {
      log('error', 'function-failed', errorFields(error))
      if (error instanceof AppError) throw new AppError(error.code, error.message)
      throw new AppError('INTERNAL', 'The function failed; its log says where.')
    } finally {
      await endInvocation()
    }
  })
