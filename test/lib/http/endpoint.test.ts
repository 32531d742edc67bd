import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { AppError } from '../../../lib/core/errors.ts'
import { type LogSink, setLogSink } from '../../../lib/core/log.ts'
import { appOf } from '../../../lib/http/app.ts'
import { endpoint, reply, replyPage } from '../../../lib/http/endpoint.ts'
import { anyone } from '../../../lib/http/public-access.ts'
import { MAX_IDEMPOTENCY_KEY_CHARS, MAX_PAGE } from '../../../lib/http/request.ts'

let previous: LogSink
beforeAll(() => {
  previous = setLogSink(() => {})
})
afterAll(() => setLogSink(previous))

const common = { method: 'POST', tag: 'Tasks', summary: 'Try', access: anyone } as const
const Text = z.string()

const app = appOf({
  echo: endpoint(
    {
      ...common,
      path: '/echo/{kind}/{id}',
      params: { kind: z.enum(['cat', 'dog']), id: Text },
      query: z.object({ color: z.enum(['red', 'blue']).optional() }),
      isRepeatable: true,
      body: z.strictObject({ name: Text }),
      responses: { 201: z.unknown() },
    },
    ({ params, query, body, idempotencyKey }) =>
      reply(201, { params, query, body, idempotencyKey }),
  ),
  list: endpoint(
    {
      ...common,
      method: 'GET',
      path: '/list',
      isPaged: true,
      responses: { 200: z.array(z.unknown()) },
    },
    ({ page }) => replyPage([page], page.cursor),
  ),
  refused: endpoint(
    {
      ...common,
      path: '/refused/{id}',
      params: { id: Text },
      query: z.object({ color: z.enum(['red']) }),
      access: {
        ...anyone,
        find: () => {
          throw new AppError('FORBIDDEN', 'Not you.')
        },
      },
      body: z.strictObject({ name: Text }),
      responses: { 200: Text },
    },
    () => reply(200, 'never'),
  ),
  raw: endpoint(
    { ...common, method: 'GET', path: '/raw', responses: { 204: { description: 'Nothing.' } } },
    ({ context }) => context.body(null, 204),
  ),
})

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  app.request(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })
const codeOf = async (answer: Response) =>
  ((await answer.json()) as { error: { code: string } }).error.code

describe('an endpoint', () => {
  it('hands its handler what was asked, and wraps what it answers', async () => {
    const answer = await post('/echo/cat/7?color=red', { name: 'A' }, { 'idempotency-key': 'k' })
    expect(answer.status).toBe(201)
    expect(await answer.json()).toEqual({
      data: {
        params: { kind: 'cat', id: '7' },
        query: { color: 'red' },
        body: { name: 'A' },
        idempotencyKey: 'k',
      },
    })
  })

  it('finds nothing where a part of the path is of another shape', async () => {
    const answer = await post('/echo/cow/7', { name: 'A' })
    expect(answer.status).toBe(404)
    expect(await codeOf(answer)).toBe('NOT_FOUND')
  })

  it.each([
    ['/echo/cat/7', { name: 1 }, {}, 422],
    ['/echo/cat/7', { name: 'A', more: 1 }, {}, 422],
    ['/echo/cat/7?color=green', { name: 'A' }, {}, 400],
    ['/echo/cat/7', { name: 'A' }, { 'content-type': 'text/plain' }, 415],
    ['/echo/cat/7', { name: 'A' }, { 'idempotency-key': '' }, 400],
    [
      '/echo/cat/7',
      { name: 'A' },
      { 'idempotency-key': 'k'.repeat(MAX_IDEMPOTENCY_KEY_CHARS + 1) },
      400,
    ],
    [
      '/echo/cat/7',
      { name: 'A' },
      { 'idempotency-key': 'k'.repeat(MAX_IDEMPOTENCY_KEY_CHARS) },
      201,
    ],
  ])('answers %s with %j and %j by %i', async (path, body, headers, status) => {
    expect((await post(path, body, headers)).status).toBe(status)
  })

  it('tells who may not come in nothing about the rest of the request', async () => {
    const answer = await post('/refused/7?color=green', 'nonsense', { 'content-type': 'text/html' })
    expect(await codeOf(answer)).toBe('FORBIDDEN')
  })

  it('answers what is no JSON as its handler made it', async () => {
    const answer = await app.request('/raw')
    expect([answer.status, await answer.text()]).toEqual([204, ''])
  })

  it('must name the parameters of its path, and no others', () => {
    const declare = (path: `/${string}`) => () =>
      endpoint({ ...common, path, params: { id: Text }, responses: { 200: Text } }, () =>
        reply(200, ''),
      )
    expect(declare('/things/{id}')).not.toThrow()
    for (const path of ['/things', '/things/{name}', '/things/{id}/{name}'] as const)
      expect(declare(path)).toThrow(expect.objectContaining({ code: 'INVALID_DEFINITION' }))
  })
})

describe('a page', () => {
  const page = (query: string) => app.request(`/list${query}`)

  it.each(['1', String(MAX_PAGE)])('may have %s items', async limit => {
    expect(await (await page(`?limit=${limit}&cursor=next`)).json()).toEqual({
      data: [{ limit: Number(limit), cursor: 'next' }],
      next_cursor: 'next',
    })
  })

  it('has its own size, and begins at the beginning, where nothing else is asked', async () => {
    for (const query of ['', '?cursor='])
      expect(await (await page(query)).json()).toEqual({ data: [{ limit: 20 }], next_cursor: null })
  })

  it.each(['0', '-1', '1.5', String(MAX_PAGE + 1), 'all', ''])('may not have %j', async limit => {
    const answer = await page(`?limit=${limit}`)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain(`a whole number from 1 to ${MAX_PAGE}`)
  })
})
