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

/** Starts watching; a time that is up aborts with FETCH_FAILED, a signal with its own reason. */
export const startWatch = (
  signals: readonly AbortSignal[],
  total: { url: URL; milliseconds: number },
): Watch => {
  const timeUp = new AbortController()
  const after = (milliseconds: number, url: URL, problem: string) =>
    // Without holding the process: the socket does that for as long as there is one.
    setTimeout(() => timeUp.abort(failed(url, problem)), milliseconds).unref()
  const seconds = total.milliseconds / 1_000
  const whole = after(total.milliseconds, total.url, `took longer than ${seconds} seconds in all.`)
  let current: ReturnType<typeof setTimeout> | undefined
  const rest = () => clearTimeout(current)
  return {
    signal: AbortSignal.any([...signals, timeUp.signal]),
    expect: ({ url, milliseconds, problem }) => {
      rest()
      current = after(milliseconds, url, `${problem} within ${milliseconds / 1_000} seconds.`)
    },
    rest,
    end: () => {
      rest()
      clearTimeout(whole)
    },
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
