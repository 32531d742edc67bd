import { expect, it } from 'vitest'
import { generate } from '../../../lib/llm/generate.ts'
import { imageTypesOf } from '../../../lib/llm/images.ts'
import type { Message } from '../../../lib/llm/message.ts'
import { PROVIDERS } from '../../../lib/llm/model-reference.ts'
import { open, request, serve, streamed } from './server.ts'
import { WIRE_NAMES } from './wires.ts'

const PNG = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 1, 2, 3])
const BASE64 = Buffer.from(PNG).toString('base64')

const conversation: Message[] = [
  ...request().messages,
  {
    role: 'assistant',
    parts: [
      {
        type: 'tool-call',
        toolCallId: 'call_1',
        toolName: 'get_weather',
        input: '{"city":"Paris"}',
        state: 'complete',
      },
    ],
  },
  {
    role: 'tool',
    results: [
      {
        toolCallId: 'call_1',
        toolName: 'get_weather',
        text: '{"media_id":"media_1"}',
        isError: false,
        images: [{ mimeType: 'image/png', bytes: PNG }],
      },
    ],
  },
]

/** Where each provider documents an image of a tool's answer. */
const PLACES: Record<string, object> = {
  anthropic: {
    messages: expect.arrayContaining([
      expect.objectContaining({
        role: 'user',
        content: [
          expect.objectContaining({
            type: 'tool_result',
            content: [
              { type: 'text', text: '{"media_id":"media_1"}' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: BASE64 } },
            ],
          }),
        ],
      }),
    ]),
  },
  openai: {
    input: expect.arrayContaining([
      expect.objectContaining({
        type: 'function_call_output',
        output: [
          { type: 'input_text', text: '{"media_id":"media_1"}' },
          expect.objectContaining({
            type: 'input_image',
            image_url: `data:image/png;base64,${BASE64}`,
          }),
        ],
      }),
    ]),
  },
  google: {
    contents: expect.arrayContaining([
      expect.objectContaining({
        parts: expect.arrayContaining([
          expect.objectContaining({ inlineData: { mimeType: 'image/png', data: BASE64 } }),
        ]),
      }),
    ]),
  },
  xai: {
    input: expect.arrayContaining([
      expect.objectContaining({
        type: 'function_call_output',
        output: [
          { type: 'input_text', text: '{"media_id":"media_1"}' },
          { type: 'input_image', image_url: `data:image/png;base64,${BASE64}` },
        ],
      }),
    ]),
  },
}

it.each(WIRE_NAMES.filter(wire => imageTypesOf(wire).length > 0))(
  'an image in a tool’s answer stands where %s documents it, beside the text',
  async wire => {
    const { fetch, received } = serve(streamed(wire, { text: 'Sunny.', end: 'done' }))
    await generate(await open(wire, fetch), request({ messages: conversation }))
    expect(received[0]?.body).toMatchObject(PLACES[wire] ?? {})
  },
)

it('every provider is asked for what it takes, and one that nobody knows takes none', () => {
  expect(PROVIDERS.filter(provider => imageTypesOf(provider).length > 0).sort()).toEqual(
    Object.keys(PLACES).sort(),
  )
  expect(imageTypesOf('constructor')).toEqual([])
})
