import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { MAX_DESCRIPTION_CHARS, MAX_SYSTEM_PROMPT_CHARS } from '../../../lib/agent/limits.ts'
import { MAX_ARGUMENT_BYTES } from '../../../lib/call/arguments.ts'
import { MAX_CONTENT_BYTES } from '../../../lib/call/shorten.ts'
import type { Id } from '../../../lib/core/ids.ts'
import { getObject } from '../../../lib/data/objects.ts'
import { MAX_LAMBDA_ANSWER_BYTES } from '../../../lib/http/answer-size.ts'
import { MAX_PAGE } from '../../../lib/http/request.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { useWorld, world } from '../../use-world.ts'
import { dataOf } from '../../world.ts'

const wordy = defineTool({
  name: 'wordy',
  description: 'Says as much as it is told to.',
  maxResultChars: 10_000_000,
  operations: {
    say: {
      description: 'Say.',
      parameters: z.object({ sign: z.string(), times: z.int(), also: z.string().optional() }),
      effect: 'idempotent',
      describe: () => 'Say it',
      execute: async ({ parameters: { sign, times } }) => sign.repeat(times),
    },
  },
})

useWorld([wordy])

let agent: Id<'agent'>
beforeAll(async () => {
  agent = await world.createAgent(['wordy'])
})

type Run = { call_id: string; content: string }
const say = async (values: object): Promise<Run> =>
  dataOf<Run>(await world.run(agent, 'wordy.say', values))

describe('a result', () => {
  it('is shown whole up to what an answer holds, whatever its tool lets through', async () => {
    const times = MAX_CONTENT_BYTES - 2
    const { content, call_id: id } = await say({ sign: 'x', times })
    expect(content).toHaveLength(times)
    expect((await world.getCall(id)).result?.content).toHaveLength(times)
  })

  it.each([
    ['one byte longer', 'x', MAX_CONTENT_BYTES - 1],
    ['as long in bytes, of signs that JSON escapes', '"', MAX_CONTENT_BYTES / 2],
    ['longer than any answer', 'x', 7_000_000],
  ])('that is %s is kept whole, and its beginning shown', async (_, sign, times) => {
    const { content, call_id: id } = await say({ sign, times })
    const note = JSON.parse(content)
    expect(note).toMatchObject({ truncated: true, original_size_chars: times })
    const whole = await getObject(note.full_output)
    expect(Buffer.from(whole ?? []).toString()).toBe(sign.repeat(times))
    expect((await world.getCall(id)).result?.content).toBe(content)
  })

  it('is shown of a call whose arguments are long as well', async () => {
    const also = 'a'.repeat(MAX_ARGUMENT_BYTES - 100)
    const { call_id: id } = await say({ sign: '"', times: 1_000_000, also })
    const call = await world.getCall(id)
    expect(call).toMatchObject({ truncated: true, arguments: null })
    expect(call.result?.content).toHaveLength(1_000_000)
  })
})

describe('a list', () => {
  /** All that a list has, by its pages, each of so many items at most. */
  const walk = async (path: string, { limit, key }: { limit: number; key: string }) => {
    const items: { name: string }[] = []
    let [cursor, pages]: [string | null, number] = ['', 0]
    while (cursor !== null) {
      const place = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const page = await world.request('GET', `${path}?limit=${limit}${place}`, { key })
      items.push(...dataOf<{ name: string }[]>(page))
      expect(Buffer.byteLength(JSON.stringify(page.text))).toBeLessThan(MAX_LAMBDA_ANSWER_BYTES)
      cursor = (page.body as { next_cursor: string | null }).next_cursor
      pages += 1
    }
    return { items, pages }
  }

  it('of the longest agents is cut by its bytes, and can be read to its end', async () => {
    const person = await world.createPerson()
    const names = Array.from({ length: 30 }, (_, index) => `Agent ${index}`)
    for (const name of names)
      await world.createAgent([], {
        key: person.key,
        name,
        system_prompt: '山'.repeat(MAX_SYSTEM_PROMPT_CHARS),
        description: '"'.repeat(MAX_DESCRIPTION_CHARS),
      })
    const { items, pages } = await walk('/api/v1/agents', { limit: MAX_PAGE, key: person.key })
    expect(items.map(({ name }) => name).toReversed()).toEqual(names)
    expect(pages).toBeGreaterThan(1)
  })

  it('of agents of which no page could be sent says so, and is read with a smaller limit', async () => {
    const person = await world.createPerson()
    for (let index = 0; index < 20; index++)
      await world.createAgent([], {
        key: person.key,
        // A byte in the table, and seven in the answer.
        system_prompt: '\u0001'.repeat(MAX_SYSTEM_PROMPT_CHARS),
      })
    const whole = await world.request('GET', `/api/v1/agents?limit=${MAX_PAGE}`, person)
    expect(whole.status).toBe(500)
    expect(whole.body.error).toMatchObject({
      code: 'ANSWER_TOO_LARGE',
      message: expect.stringContaining('a smaller "limit"'),
    })
    const { items } = await walk('/api/v1/agents', { limit: 5, key: person.key })
    expect(items).toHaveLength(20)
  })
})
