import { createParser, type EventSourceMessage } from 'eventsource-parser'

export type Message = { id: string; event: string; data: Record<string, unknown> }

/** What a stream has sent so far, read by a parser that isn't ours. */
export const createReader = () => {
  const messages: Message[] = []
  const comments: string[] = []
  const retries: number[] = []
  const problems: unknown[] = []
  const parser = createParser({
    onEvent: ({ id = '', event = '', data }: EventSourceMessage) =>
      messages.push({ id, event, data: JSON.parse(data) }),
    onComment: comment => comments.push(comment),
    onRetry: retry => retries.push(retry),
    onError: problem => problems.push(problem),
  })
  return { messages, comments, retries, problems, feed: (text: string) => parser.feed(text) }
}

/** Follows a stream over a socket of its own; `closed` settles when it has ended. */
export const openStream = async (
  url: string,
  { key, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
) => {
  const hangUp = new AbortController()
  const response = await fetch(url, {
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
    signal: hangUp.signal,
  })
  const reader = createReader()
  const read = async () => {
    if (!response.body) return
    const decoder = new TextDecoder()
    for await (const chunk of response.body) reader.feed(decoder.decode(chunk, { stream: true }))
  }
  return {
    ...reader,
    status: response.status,
    response,
    closed: read().catch(error => {
      if (!hangUp.signal.aborted) throw error
    }),
    hangUp: () => hangUp.abort(),
  }
}
