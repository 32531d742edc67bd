import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelRequest } from '../../../lib/llm/model.ts'
import { openModel } from '../../../lib/llm/provider.ts'
import { type Scripted, WIRES, type WireName } from './wires.ts'

export const NAMES: Record<WireName, string> = {
  openai: 'gpt-5-mini',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
  xai: 'grok-4',
  'openai-compatible': 'some/model',
}

export const KEY = 'sk-canary-7f3e1c-KEY'

export type Received = { url: string; headers: Headers; body: Record<string, unknown> }

/** A fake fetch that answers each request with the next of the answers, and keeps the requests. */
export const serve = (...answers: (() => Response | Promise<Response>)[]) => {
  const received: Received[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const body = JSON.parse(await request.text())
    received.push({ url: request.url, headers: request.headers, body })
    const answer = answers[received.length - 1]
    if (!answer) throw new Error('There was one request too many.')
    return answer()
  }
  return { fetch, received }
}

/** A streamed answer of a provider; where it breaks, the connection is reset after its events. */
export const streamed =
  (wire: WireName, scripted: Scripted, options: { breaks?: boolean } = {}) =>
  (): Response =>
    new Response(bytes(WIRES[wire](scripted).join(''), options.breaks ?? false), {
      headers: { 'content-type': 'text/event-stream' },
    })

/** A failed answer with its status, its body and its headers. */
export const failed =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (): Response =>
    Response.json(body, { status, headers })

export const open = (wire: WireName, fetch: typeof globalThis.fetch): Promise<LanguageModelV4> =>
  openModel(
    {
      provider: wire,
      name: NAMES[wire],
      ...(wire === 'openai-compatible' && { baseUrl: 'https://models.example/v1' }),
    },
    { apiKey: KEY, fetch },
  )

export const request = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Be brief.',
  messages: [{ role: 'user', text: "What's the weather in Paris?" }],
  tools: [WEATHER],
  ...changes,
})

export const WEATHER = {
  name: 'get_weather',
  description: 'Get the current weather for a city.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}

/** In pieces that keep to no boundary of events or characters, as networks deliver them. */
const bytes = (text: string, breaks: boolean): ReadableStream<Uint8Array> => {
  const PIECE_BYTES = 61
  const all = new TextEncoder().encode(text)
  let sent = 0
  return new ReadableStream({
    pull: controller => {
      if (sent < all.length) {
        controller.enqueue(all.slice(sent, sent + PIECE_BYTES))
        sent += PIECE_BYTES
        return
      }
      if (breaks) controller.error(new TypeError('terminated'))
      else controller.close()
    },
  })
}
