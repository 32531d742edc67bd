import { AppError } from '../core/errors.ts'

/** Throws all problems at once: whoever deploys should not find them one by one. */
export const refuseProblems = (heading: string, problems: readonly string[]): void => {
  if (problems.length === 0) return
  throw new AppError(
    'INVALID_DEFINITION',
    `${heading}:\n${problems.map(problem => `- ${problem}`).join('\n')}`,
  )
}

/** What a check complains of; what it throws that is no refusal of ours is a fault, and thrown on. */
export const messageOf = (check: () => unknown): string | undefined => {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}
