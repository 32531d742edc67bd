import { randomBytes } from 'node:crypto'
import { namedError } from './error.ts'
import { MAX_TIMER_SECONDS } from './limits.ts'

/** 256 random bits; what has this shape and is not awaited was awaited once, perhaps before us. */
const TOKEN = /^local\.[\w-]{43}$/
const newToken = (): string => `local.${randomBytes(32).toString('base64url')}`

type Wait = {
  resolve: (output: unknown) => void
  reject: (error: Error) => void
  heartbeat: () => void
  /** Stops its timers and forgets it: from here on its token is gone. */
  end: () => void
}

type Options = { timeoutSeconds?: number; heartbeatSeconds?: number; signal: AbortSignal }

export type Tokens = ReturnType<typeof createTokens>

/** The token waits of all executions. */
export const createTokens = () => {
  const waits = new Map<string, Wait>()

  /** The wait of a token; throws as AWS does for one that is junk, used, aborted or too late. */
  const find = (token: string): Wait => {
    if (!TOKEN.test(token)) throw namedError('InvalidToken', "Invalid Token: 'Invalid token'")
    const wait = waits.get(token)
    if (wait) return wait
    throw namedError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'")
  }

  /**
   * Opens a wait. Past its timeout the token is gone, but nothing is rejected: the interpreter
   * has a timer of the same length, set after ours, and only its own timeout escapes a Retry or
   * Catch of States.TaskFailed, as a timeout must.
   */
  const open = ({ timeoutSeconds = MAX_TIMER_SECONDS, heartbeatSeconds, signal }: Options) => {
    const token = newToken()
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const timeoutMs = Math.min(timeoutSeconds, MAX_TIMER_SECONDS) * 1_000

    const end = () => {
      waits.delete(token)
      clearTimeout(timeout)
      clearTimeout(silence)
      signal.removeEventListener('abort', abort)
    }
    const abort = () => {
      end()
      reject(signal.reason)
    }
    const fallSilent = () => {
      end()
      reject(namedError('States.HeartbeatTimeout', 'No heartbeat came in time.'))
    }
    const listen = () =>
      heartbeatSeconds === undefined ? undefined : setTimeout(fallSilent, heartbeatSeconds * 1_000)

    const timeout = setTimeout(end, timeoutMs)
    let silence = listen()
    const heartbeat = () => {
      clearTimeout(silence)
      silence = listen()
    }
    signal.addEventListener('abort', abort, { once: true })
    waits.set(token, { resolve, reject, heartbeat, end })
    return { token, result: promise }
  }

  const succeed = (token: string, output: unknown): void => {
    const wait = find(token)
    wait.end()
    wait.resolve(output)
  }

  const fail = (token: string, error: Error): void => {
    const wait = find(token)
    wait.end()
    wait.reject(error)
  }

  return {
    open,
    succeed,
    fail,
    heartbeat: (token: string): void => find(token).heartbeat(),
    isOpen: (token: string): boolean => waits.has(token),
    size: (): number => waits.size,
  }
}
