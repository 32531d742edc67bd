import { AppError } from '../../../lib/core/errors.ts'

/** The error of ours that something ends with. */
export const failure = async (work: Promise<unknown>): Promise<AppError> => {
  const error = await work.then(
    value => new Error(`nothing failed: ${value}`),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AppError)) throw error
  return error
}
