import { AsyncLocalStorage } from 'node:async_hooks'
import { errorFields, log } from '../core/log.ts'

// https://html.spec.whatwg.org/multipage/server-sent-events.html: the format, and what a browser's
// EventSource makes of it.

export const EVENT_STREAM = 'text/event-stream'

/** A message: JSON has no line break in it, so that its data is one line. */
export const message = ({ id, event, data }: { id: string; event: string; data: unknown }) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** What keeps a connection from looking dead; clients pass over it. */
export const heartbeat = (): string => ': \n\n'

/** After how many milliseconds to connect again once the stream has ended. */
export const retryAfter = (milliseconds: number): string => `retry: ${milliseconds}\n\n`

type Source = (signal: AbortSignal) => AsyncGenerator<string, void>

/**
 * A response that sends what a source makes, as fast as it is taken and no faster. The signal says
 * that whoever read it has gone; `ended` is called once, however the stream ends. A source that
 * fails ends the stream: its reader comes back, and is told then what is wrong.
 */
export const streamResponse = (source: Source, ended: () => Promise<void>): Response => {
  const gone = new AbortController()
  const texts = source(gone.signal)
  // Whoever pulls is outside of the request by then; its log lines and figures are not.
  const inRequest = AsyncLocalStorage.snapshot()
  const encoder = new TextEncoder()
  let ending: Promise<void> | undefined
  const end = (): Promise<void> => {
    ending ??= ended().catch(error => log('warn', 'stream-not-closed', errorFields(error)))
    return ending
  }
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async controller => {
        const text = await inRequest(nextOf, texts)
        if (gone.signal.aborted) return
        if (text !== undefined) return controller.enqueue(encoder.encode(text))
        await end()
        controller.close()
      },
      cancel: async () => {
        gone.abort()
        await Promise.all([inRequest(() => texts.return()), end()])
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'content-type': EVENT_STREAM,
      // Nobody on the way may keep it, or change it by compressing it in blocks.
      'cache-control': 'no-store, no-transform',
    },
  })
}

const nextOf = async (texts: AsyncGenerator<string, void>): Promise<string | undefined> => {
  try {
    const next = await texts.next()
    return next.done ? undefined : next.value
  } catch (error) {
    log('error', 'stream-failed', errorFields(error))
    return undefined
  }
}
