import { describe, expect, it } from 'vitest'
import { MAX_NAME_CHARS } from '../../lib/agent/limits.ts'
import { MAX_TOOL_NAME_CHARS } from '../../lib/http/agent-body.ts'
import { MAX_BASE_URL_CHARS } from '../../lib/llm/model-reference.ts'
import { useWorld, world } from '../use-world.ts'

// What is stored of a request has an end, and what people are called can be read.

useWorld()

const model = { provider: 'rehearsal', name: 'script' }
const statusOf = async (path: string, body: object) =>
  (await world.request('POST', `/api/v1${path}`, { body })).status
const url = (length: number) => 'https://example.com/'.padEnd(length, 'x')

describe('a text that is stored', () => {
  it.each([
    ['tool_choice', MAX_TOOL_NAME_CHARS, (n: number): object => ({ tool: 'x'.repeat(n) })],
    ['model', MAX_BASE_URL_CHARS, (n: number): object => ({ ...model, base_url: url(n) })],
  ] as const)('is so long and no longer: %s', async (field, most, of) => {
    const body = (n: number) => ({ name: 'Long', model, [field]: of(n) })
    expect(await statusOf('/agents', body(most))).toBe(201)
    for (const length of [most + 1, 500_000])
      expect(await statusOf('/agents', body(length))).toBe(422)
  })

  it('is so long and no longer: the address of an LLM configuration', async () => {
    const body = (n: number) => ({ name: 'L', provider: 'openai', model: 'm', base_url: url(n) })
    expect(await statusOf('/llm-configurations', body(MAX_BASE_URL_CHARS))).toBe(201)
    expect(await statusOf('/llm-configurations', body(MAX_BASE_URL_CHARS + 1))).toBe(422)
  })
})

describe('a name', () => {
  it.each([
    'two\nlines',
    'a tab\tin it',
    'a\u0000b',
    'a\u2028b',
    'back\u202etxet',
    '\u200b',
    '\u3164',
    '\u0301',
  ])('%j is refused', async name => {
    for (const path of ['/users', '/groups', '/keys'])
      expect(await statusOf(path, { name })).toBe(422)
    expect(await statusOf('/agents', { name, model })).toBe(422)
  })

  it.each([
    'Ada',
    'Zoë',
    '伊藤',
    'नमस्ते',
    'می‌خواهم',
    '👩‍👩‍👧',
    '7',
    '-',
    '😀'.repeat(MAX_NAME_CHARS / 2),
  ])('%j is one', async name => {
    expect(await statusOf('/groups', { name })).toBe(201)
  })

  it('made by an agent is one, too', async () => {
    const builder = await world.createAgent(['agent'])
    await world.override(builder, 'agent.create_agent', { requires_approval: false })
    const make = (name: string, n: number) =>
      world.run(
        builder,
        'agent.create_agent',
        { name, system_prompt: '' },
        {
          headers: { 'idempotency-key': `${n}` },
        },
      )
    expect((await make('\u200b', 1)).text).toContain('"is_error":true')
    expect((await make('two\nlines', 2)).text).toContain('"is_error":true')
    expect((await make('One line', 3)).text).toContain('"is_error":false')
  })
})
