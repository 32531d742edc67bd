import { describe, expect, it } from 'vitest'
import { generate } from '../../../lib/llm/generate.ts'
import { AssistantMessage, type Message } from '../../../lib/llm/message.ts'
import { open, request, serve, streamed } from './server.ts'
import type { Scripted, WireName } from './wires.ts'

const SEAL = 'c2VhbGVkLXJlYXNvbmluZw=='

const scripted: Scripted = {
  reasoning: { text: 'They ask for Paris.', seal: SEAL },
  calls: [{ id: 'call_1', name: 'get_weather', pieces: ['{"city":"Paris"}'] }],
  end: 'done',
}

/** Takes an answer through the history, where it is JSON, and into the next request. */
const roundTrip = async (wire: WireName, first: () => Response = streamed(wire, scripted)) => {
  const { fetch, received } = serve(first, streamed(wire, { text: 'Sunny.', end: 'done' }))
  const model = await open(wire, fetch)
  const { message } = await generate(model, request())
  const stored = AssistantMessage.parse(JSON.parse(JSON.stringify(message)))
  const results = message.parts.flatMap(part =>
    part.type === 'tool-call'
      ? [{ toolCallId: part.toolCallId, toolName: part.toolName, text: 'Sunny', isError: false }]
      : [],
  )
  const messages: Message[] = [...request().messages, stored, { role: 'tool', results }]
  await generate(model, request({ messages }))
  return { message: message as AssistantMessage, body: received[1]?.body ?? {} }
}

describe('what a provider wants back', () => {
  it('is the signature of a thought, at Anthropic', async () => {
    const { body } = await roundTrip('anthropic')
    expect(body.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'They ask for Paris.', signature: SEAL },
          { type: 'tool_use', id: 'call_1', input: { city: 'Paris' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
    ])
  })

  it('is a thought that nobody may read, at Anthropic', async () => {
    const redacted = { type: 'redacted_thinking', data: SEAL }
    const events = streamed('anthropic', { calls: scripted.calls ?? [], end: 'done' })
    const { body } = await roundTrip('anthropic', () => {
      const start = { type: 'content_block_start', index: 9, content_block: redacted }
      const block = [start, { type: 'content_block_stop', index: 9 }]
        .map(data => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
        .join('')
      return insertAfterFirst(events(), block)
    })
    expect(JSON.stringify(body.messages)).toContain(JSON.stringify(redacted))
  })

  it('is the thought signature of a call, at Google', async () => {
    const { body } = await roundTrip('google')
    expect(body.contents).toMatchObject([
      { role: 'user' },
      {
        role: 'model',
        parts: expect.arrayContaining([
          expect.objectContaining({
            functionCall: expect.objectContaining({ name: 'get_weather' }),
            thoughtSignature: SEAL,
          }),
        ]),
      },
      { role: 'user' },
    ])
  })

  it('is the encrypted reasoning, at OpenAI, where nothing is stored', async () => {
    const { body } = await roundTrip('openai')
    expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    expect(body.input).toMatchObject([
      { role: 'developer' },
      { role: 'user' },
      {
        type: 'reasoning',
        encrypted_content: SEAL,
        summary: [{ type: 'summary_text', text: 'They ask for Paris.' }],
      },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1' },
    ])
    expect(JSON.stringify(body.input)).not.toContain('item_reference')
  })

  it('is the encrypted reasoning, at xAI', async () => {
    const { body } = await roundTrip('xai')
    expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    expect(body.input).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'reasoning', encrypted_content: SEAL }),
      ]),
    )
  })

  it('is the reasoning itself and the signature of a call, at a compatible server', async () => {
    const { body } = await roundTrip('openai-compatible')
    expect(body.messages).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      {
        role: 'assistant',
        reasoning_content: 'They ask for Paris.',
        tool_calls: [{ id: 'call_1', extra_content: { google: { thought_signature: SEAL } } }],
      },
      { role: 'tool', tool_call_id: 'call_1' },
    ])
  })

  it('is in the message, as JSON', async () => {
    for (const wire of ['openai', 'anthropic', 'google', 'xai', 'openai-compatible'] as const) {
      const { message } = await roundTrip(wire)
      expect(JSON.stringify(message)).toContain(SEAL)
    }
  })
})

/** Puts a block of events behind the first event of a streamed answer. */
const insertAfterFirst = (response: Response, block: string): Response => {
  const stream = new ReadableStream<Uint8Array>({
    start: async controller => {
      const text = await response.text()
      const end = text.indexOf('\n\n') + 2
      controller.enqueue(new TextEncoder().encode(text.slice(0, end) + block + text.slice(end)))
      controller.close()
    },
  })
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}
