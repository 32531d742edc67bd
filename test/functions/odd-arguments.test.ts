import { describe, expect, it } from 'vitest'
import { agent, useAgent, world } from '../use-world.ts'

// What a model may write where arguments belong, and nobody would.

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

useAgent(['media', 'calculator'])

const refusalOf = async (line: string) => {
  const id = await world.createTask(agent, line, '', '/calculator calculate {"expression": "1+1"}')
  const { tool_calls: calls } = await world.untilTask(id, 'COMPLETED', 'FAILED')
  // Whatever the first call was, the task goes on.
  expect(calls[1]?.result?.content).toBe('2')
  return calls[0]?.result
}

describe('a model’s arguments', () => {
  it.each(['{"toString": 1, "valueOf": 1}', '["search"]', '{}', '1', 'null'])(
    'that name the operation by %s are refused, and the model reads which there are',
    async named => {
      expect(await refusalOf(`/media nothing {"action": ${named}}`)).toMatchObject({
        code: 'VALIDATION_ERROR',
        content: expect.stringMatching(/Say which operation .* Available: create_media, search/),
      })
    },
  )

  it('that are nested without end are refused', async () => {
    expect(await refusalOf(`/media search {"query": ${nested(1_000)}}`)).toMatchObject({
      code: 'VALIDATION_ERROR',
      content: expect.stringContaining('100 levels'),
    })
  })
})

/** As many fields as a request of 6 MB holds, and one whose name alone is as long. */
const MANY = Object.fromEntries(
  Array.from({ length: 100_000 }, (_, index) => [`field ${index}`, 1]),
)
const LONG = { ['x'.repeat(2_000_000)]: 1 }

describe('a request', () => {
  it.each<[string, string, (agent: string) => string, RegExp]>([
    ['arguments', 'POST', () => '/api/v1/tools/calculator/operations/calculate', /And \d+ more\.$/],
    ['fields', 'POST', () => '/api/v1/agents', /And \d+ more\.$/],
    [
      'settings',
      'PUT',
      id => `/api/v1/agents/${id}/tools/media/settings`,
      /are 100000; send at most 90 at once\.$/,
    ],
  ])('of more %s than there are is told of some of them', async (_, method, path, more) => {
    const headers = { 'espalier-agent': agent }
    for (const body of [MANY, LONG]) {
      const answer = await world.request(method, path(agent), { body, headers })
      expect(answer).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_ERROR' } } })
      expect(answer.text.length).toBeLessThan(50_000)
      if (body === MANY) expect(answer.body.error?.message).toMatch(more)
    }
  })

  it('whose arguments are nested without end is told so', async () => {
    const answer = await world.run(agent, 'media.search', `{"query": ${nested(20_000)}}`)
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_ERROR' } } })
    expect(answer.body.error?.message).toContain('100 levels')
  })
})
