import { failed } from './failure.ts'

/** Watches over one fetch: its signal aborts when anybody wants it to end, or a time is up. */
export type Watch = {
  signal: AbortSignal
  /** Gives what comes next so much time, in place of what was awaited before. */
  expect: (next: { url: URL; milliseconds: number; problem: string }) => void
  /** Nothing is awaited from the server; the whole still has its end. */
  rest: () => void
  /** It is over: nothing is watched any more. */
  end: () => void
}

/**
 * What is held while it is watched. A request's signal hangs on its request, and that one's on the
 * request that it was made of, by weak references alone: were one collected, an abort would reach
 * nobody.
 */
const watched = new Set<object>()

/**
 * Starts watching; a time that is up aborts with FETCH_FAILED, a signal with its own reason. `held` is
 * what the signals hang on.
 */
export const startWatch = (
  signals: readonly AbortSignal[],
  { held, ...total }: { url: URL; milliseconds: number; held: readonly unknown[] },
): Watch => {
  const over = new AbortController()
  const after = (milliseconds: number, url: URL, problem: string) =>
    // Without holding the process: the socket does that for as long as there is one.
    setTimeout(() => over.abort(failed(url, problem)), milliseconds).unref()
  const seconds = total.milliseconds / 1_000
  const whole = after(total.milliseconds, total.url, `took longer than ${seconds} seconds in all.`)
  let current: ReturnType<typeof setTimeout> | undefined
  const rest = () => clearTimeout(current)
  const sources = signals.map(signal => {
    const abort = () => over.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    return { signal, abort }
  })
  const whatIsHeld = { held, sources }
  watched.add(whatIsHeld)
  const end = () => {
    rest()
    clearTimeout(whole)
    for (const { signal, abort } of sources) signal.removeEventListener('abort', abort)
    watched.delete(whatIsHeld)
  }
  // Whoever never reads a body never ends the watch; its time does.
  over.signal.addEventListener('abort', end, { once: true })
  if (over.signal.aborted) end()
  return {
    signal: over.signal,
    expect: ({ url, milliseconds, problem }) => {
      rest()
      current = after(milliseconds, url, `${problem} within ${milliseconds / 1_000} seconds.`)
    },
    rest,
    end,
  }
}

/** What the work comes to, unless the signal aborts first; then the signal's reason is thrown. */
export const unlessAborted = async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
