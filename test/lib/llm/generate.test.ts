import { describe, expect, it } from 'vitest'
import { generate } from '../../../lib/llm/generate.ts'
import { AssistantMessage, type Message, toolCalls } from '../../../lib/llm/message.ts'
import { failed, open, request, serve, streamed, WEATHER } from './server.ts'
import { type Scripted, WIRE_NAMES, type WireName } from './wires.ts'

const call = (...pieces: string[]) => ({ id: 'call_1', name: 'get_weather', pieces })

const ask = async (wire: WireName, scripted: Scripted, options: { breaks?: boolean } = {}) => {
  const { fetch } = serve(streamed(wire, scripted, options))
  return generate(await open(wire, fetch), request())
}

/** Gemini's calls come whole or not at all: see its own tests. */
const STREAMING = WIRE_NAMES.filter(wire => wire !== 'google')

describe.each(WIRE_NAMES)('an answer of %s', wire => {
  it('is a text with its usage', async () => {
    const response = await ask(wire, { text: 'Sunny, 22 °C.', end: 'done' })
    expect(response.message.parts.map(part => part.type === 'text' && part.text)).toContain(
      'Sunny, 22 °C.',
    )
    expect(response.finishReason).toBe('stop')
    expect(response.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 })
  })

  it('has its calls in order, with their whole text', async () => {
    const second = { id: 'call_2', name: 'get_weather', pieces: ['{"city":', '"Rome"}'] }
    const calls = [call('{"ci', 'ty":"Par', 'is"}'), second]
    const { message, finishReason } = await ask(wire, { text: 'Let me see.', calls, end: 'done' })
    expect(finishReason).toBe('tool-calls')
    expect(toolCalls(message)).toMatchObject([
      { toolName: 'get_weather', input: '{"city":"Paris"}', state: 'complete' },
      { toolName: 'get_weather', input: '{"city":"Rome"}', state: 'complete' },
    ])
    expect(AssistantMessage.parse(JSON.parse(JSON.stringify(message)))).toEqual(message)
  })

  it('that breaks off within a text is a failure that may be tried again', async () => {
    for (const breaks of [false, true]) {
      const answer = ask(wire, { text: 'Sunny and', end: 'dies' }, { breaks })
      await expect(answer).rejects.toMatchObject({
        code: 'MODEL_ERROR',
        details: { provider: wire, kind: 'gateway-error', is_retryable: true },
      })
    }
  })
})

describe.each(STREAMING)('a broken call of %s', wire => {
  it('is cut off where the tokens ran out', async () => {
    const { message, finishReason } = await ask(wire, {
      calls: [call('{"city":"Pa')],
      end: 'length',
    })
    expect(finishReason).toBe('length')
    expect(toolCalls(message)).toMatchObject([{ input: '{"city":"Pa', state: 'cut-off' }])
  })

  it('is cut off where the tokens ran out before its first character', async () => {
    const { message } = await ask(wire, { calls: [call()], end: 'length' })
    expect(toolCalls(message)).toMatchObject([{ toolCallId: 'call_1', state: 'cut-off' }])
  })

  it('is cut off where the stream ended or broke within it', async () => {
    for (const breaks of [false, true]) {
      const scripted: Scripted = { text: 'Wait.', calls: [call('{"city":', '"Pa')], end: 'dies' }
      const { message, finishReason } = await ask(wire, scripted, { breaks })
      expect(finishReason).toBe('interrupted')
      expect(toolCalls(message)).toMatchObject([
        { toolName: 'get_weather', input: '{"city":"Pa', state: 'cut-off' },
      ])
    }
  })

  it('leaves the calls before it complete', async () => {
    const cut = { id: 'call_2', name: 'get_weather', pieces: ['{"ci'] }
    const { message } = await ask(wire, { calls: [call('{"city":"Paris"}'), cut], end: 'length' })
    expect(toolCalls(message).map(({ state }) => state)).toEqual(['complete', 'cut-off'])
  })

  it('is malformed where its text has an end and is no JSON', async () => {
    const { message } = await ask(wire, { calls: [call('{"city" ', '"Paris"}')], end: 'done' })
    expect(toolCalls(message)).toMatchObject([{ input: '{"city" "Paris"}', state: 'malformed' }])
  })

  it('never goes back as text', async () => {
    const { fetch, received } = serve(
      streamed(wire, { calls: [call('{"city":"Pa-CUT')], end: 'length' }),
      streamed(wire, { text: 'I see.', end: 'done' }),
    )
    const model = await open(wire, fetch)
    const { message } = await generate(model, request())
    const results = [
      { toolCallId: 'call_1', toolName: 'get_weather', text: 'It was cut off.', isError: true },
    ]
    const messages: Message[] = [...request().messages, message, { role: 'tool', results }]
    await generate(model, request({ messages }))
    const sent = JSON.stringify(received[1]?.body)
    expect(sent).not.toContain('CUT')
    expect(sent).toContain('It was cut off.')
    expect(sent).toMatch(/"(input|arguments)":("\{\}"|\{\})/)
  })
})

describe('a broken call of google', () => {
  it('is not there, and the answer says that it stopped for length', async () => {
    const scripted: Scripted = { text: 'Wait.', calls: [call('{"city":"Pa')], end: 'length' }
    const { message, finishReason } = await ask('google', scripted)
    expect(finishReason).toBe('length')
    expect(toolCalls(message)).toEqual([])
  })

  it('that Gemini itself calls malformed may be asked for again', async () => {
    const candidate = { content: {}, finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }
    const { fetch } = serve(
      () =>
        new Response(`data: ${JSON.stringify({ candidates: [candidate] })}\n\n`, {
          headers: { 'content-type': 'text/event-stream' },
        }),
    )
    await expect(generate(await open('google', fetch), request())).rejects.toMatchObject({
      details: { kind: 'unknown', is_retryable: true },
    })
  })
})

describe.each(WIRE_NAMES)('a failure of %s', wire => {
  const detailsOf = async (answer: () => Response | Promise<Response>) => {
    const { fetch } = serve(answer)
    const failure = await generate(await open(wire, fetch), request()).catch(error => error)
    return failure.details
  }

  it('may have cost something once some of an answer had come', async () => {
    for (const breaks of [false, true])
      expect(
        await detailsOf(streamed(wire, { text: 'Sun', end: 'dies' }, { breaks })),
      ).toMatchObject({ may_have_cost: true })
  })

  it('has cost nothing where the provider refused, or could not be reached', async () => {
    for (const status of [400, 401, 429, 500, 529])
      expect(await detailsOf(failed(status, { error: { message: 'no' } }))).not.toHaveProperty(
        'may_have_cost',
      )
    const unreachable = () => Promise.reject(new TypeError('fetch failed'))
    expect(await detailsOf(unreachable)).not.toHaveProperty('may_have_cost')
  })
})

describe('a call without arguments', () => {
  it('is complete where Anthropic ends it in order', async () => {
    const { message } = await ask('anthropic', { calls: [call()], end: 'done' })
    expect(toolCalls(message)).toMatchObject([{ input: '{}', state: 'complete' }])
  })

  it('is complete where it was streamed as {}', async () => {
    for (const wire of WIRE_NAMES) {
      const { message } = await ask(wire, { calls: [call('{}')], end: 'done' })
      expect(toolCalls(message)).toMatchObject([{ input: '{}', state: 'complete' }])
    }
  })
})

describe('an aborted request', () => {
  it('throws what the caller aborted it with', async () => {
    const { fetch } = serve(streamed('openai', { text: 'Sunny', end: 'done' }))
    const reason = new Error('The task was cancelled.')
    const signal = AbortSignal.abort(reason)
    const answer = generate(await open('openai', fetch), request({ signal }))
    await expect(answer).rejects.toBe(reason)
  })

  it('is a timeout where the time was up', async () => {
    const { fetch } = serve(() => new Promise(() => undefined))
    const waiting: typeof fetch = (input, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
        fetch(input, init).catch(reject)
      })
    const model = await open('anthropic', waiting)
    const answer = generate(model, request({ signal: AbortSignal.timeout(20) }))
    await expect(answer).rejects.toMatchObject({
      code: 'MODEL_ERROR',
      details: { kind: 'timeout', is_retryable: true, may_have_cost: true },
    })
  })
})

describe('warnings', () => {
  it('of a driver are sentences', async () => {
    const { fetch } = serve(streamed('google', { text: 'Sunny', end: 'done' }))
    const model = await open('google', fetch)
    const { warnings } = await generate(model, request({ tools: [{ ...WEATHER, strict: true }] }))
    expect(warnings.every(warning => typeof warning === 'string')).toBe(true)
  })
})

describe('tokens that a server counts', () => {
  const streamOf = (parts: object[]) =>
    new ReadableStream({
      start: controller => {
        for (const part of parts) controller.enqueue(part)
        controller.close()
      },
    })

  const counting = (total: number) =>
    ({
      specificationVersion: 'v4',
      provider: 'odd',
      modelId: 'odd',
      supportedUrls: {},
      doStream: async () => ({
        stream: streamOf([
          { type: 'stream-start', warnings: [] },
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: 'Hello.' },
          { type: 'text-end', id: '1' },
          {
            type: 'finish',
            finishReason: { unified: 'stop', raw: 'stop' },
            usage: { inputTokens: { total }, outputTokens: { total } },
          },
        ]),
      }),
    }) as unknown as Parameters<typeof generate>[0]

  it.each([
    [7, 7],
    [7.4, 7],
    [-7, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    [1e12, 1_000_000_000],
  ])('are believed as far as %d can be some: %d', async (told, believed) => {
    const { usage } = await generate(counting(told), request())
    expect(usage).toMatchObject({ inputTokens: believed, outputTokens: believed })
  })
})
