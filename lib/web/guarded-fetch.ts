import type { Limits } from './limits.ts'
import type { Resolve } from './target.ts'

/** A request as `fetch` takes it, and limits of its own below the usual ones. */
export type FetchInit = RequestInit & { limits?: Partial<Limits> }

/** What tools fetch with: it takes what `fetch` takes, and answers with a `Response`. */
export type Fetch = (input: string | URL | Request, init?: FetchInit) => Promise<Response>

export type GuardOptions = {
  /** Ends every request of this fetch when it aborts, in the middle of a body too. */
  signal?: AbortSignal
  /** Lower limits for every request of this fetch. */
  limits?: Partial<Limits>
  /** What holds in place of the usual limits: for requests that no tool makes. */
  ceiling?: Partial<Limits>
  /** Resolves names; the system's resolver unless given. */
  resolve?: Resolve
}

/**
 * A `fetch` for requests whose address a model may have chosen: it reaches the public internet and
 * what the operator allows, and nothing else. FETCH_REFUSED where an address, at the start or after
 * a redirect, is not allowed, before a byte is sent there; FETCH_FAILED where a server doesn't answer
 * within the limits; VALIDATION_ERROR for what is no request. What is behind it loads with its first
 * use, so that a function that never fetches doesn't pay for it.
 */
export const guardedFetch =
  (options: GuardOptions = {}): Fetch =>
  async (input, init = {}) => {
    const { follow } = await import('./follow.ts')
    return follow(input, init, options)
  }
