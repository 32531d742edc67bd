import { AppError } from './errors.ts'

/** How many causes of an error are told: a chain of them may be a circle. */
const MAX_CAUSES = 5

/** A place in a file of ours, of a package or of Node; a URL's query is in none. */
const FRAME = /^ {4}at (?:[^()]* \()?(?:file:\/\/|node:|\/)[^\s?#()]*:\d+:\d+\)?$/
/** Codes as Node and undici give them. */
const SYSTEM_CODE = /^(?:E|UND_ERR)[A-Z0-9_]*$/

/**
 * What kind of error this is and where it was made, without a word of what it says: a message, a
 * name or a code that a tool's code made may hold arguments and secrets.
 */
export const errorKind = (error: unknown): Record<string, unknown> => {
  try {
    return kindWithin(error, MAX_CAUSES)
  } catch {
    // What is thrown may throw itself wherever it is looked at.
    return { error: typeof error }
  }
}

const kindWithin = (error: unknown, causes: number): Record<string, unknown> => {
  if (error instanceof AppError) return { code: error.code }
  if (!(error instanceof Error)) return { error: typeof error }
  return {
    error: kindOf(error),
    ...('code' in error && SYSTEM_CODE.test(String(error.code)) ? { code: error.code } : {}),
    ...stackOf(error),
    ...(error.cause === undefined || causes === 0
      ? {}
      : { cause: kindWithin(error.cause, causes - 1) }),
  }
}

/** A class's name; of an AWS service's exceptions the code, for which most have no class. */
const kindOf = (error: Error): string =>
  '$fault' in error && '$metadata' in error ? error.name : String(error.constructor?.name)

/** An error's frames: what stands after its message, which may hold lines that look like some. */
const stackOf = ({ message, stack }: Error): { stack?: string } => {
  // Whatever their types say: code that throws may have set them to anything.
  if (typeof stack !== 'string' || typeof message !== 'string') return {}
  const end = message === '' ? stack.indexOf('\n') : stack.lastIndexOf(`${message}\n`)
  if (end < 0) return {}
  const frames = stack.slice(end + message.length).split('\n')
  return { stack: frames.filter(line => FRAME.test(line)).join('\n') }
}
