import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { AppError, ERROR_STATUS, type ErrorCode } from '../../../lib/core/errors.ts'
import { type LogEntry, type LogSink, setLogSink } from '../../../lib/core/log.ts'
import { createApp } from '../../../lib/http/app.ts'
import { bearerToken } from '../../../lib/http/bearer.ts'
import { objectOf, readBody } from '../../../lib/http/request.ts'

let entries: LogEntry[]
let previous: LogSink
beforeEach(() => {
  entries = []
  previous = setLogSink(entry => entries.push(entry))
})
afterEach(() => setLogSink(previous))

const app = createApp()
app.get('/codes/:code', context => {
  throw new AppError(context.req.param('code') as ErrorCode, 'A message.', { details: [1] })
})
app.get('/broken', () => {
  throw new Error('canary: what went wrong inside')
})
app.post('/body', async context =>
  context.json(await readBody(context, z.strictObject({ name: z.string(), age: z.int() }))),
)
app.post('/object', async context => context.json(await readBody(context, objectOf('things'))))

const post = (path: string, body: string, type = 'application/json') =>
  app.request(path, { method: 'POST', body, headers: { 'content-type': type } })

describe('an error', () => {
  it.each(Object.entries(ERROR_STATUS))(
    '%s answers with %i, in the envelope',
    async (code, status) => {
      const answer = await app.request(`/codes/${code}`)
      expect(answer.status).toBe(status)
      expect(await answer.json()).toEqual({ error: { code, message: 'A message.', details: [1] } })
    },
  )

  it('that is not ours says nothing of itself, and the log tells its place under the request’s id', async () => {
    const answer = await app.request('/broken')
    expect(answer.status).toBe(500)
    const text = await answer.text()
    expect(text).not.toContain('canary')
    expect(JSON.parse(text).error.code).toBe('INTERNAL')
    const entry = entries.find(({ event }) => event === 'request-handled')
    expect(entry).toMatchObject({ error: 'Error', stack: expect.stringContaining('app.test.ts') })
    expect(JSON.stringify(entry)).not.toContain('canary')
    expect(entry?.requestId).toBe(answer.headers.get('x-request-id'))
  })

  it('is what a path that leads nowhere answers with', async () => {
    const answer = await app.request('/nowhere')
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })
})

describe('a body', () => {
  it('is told of every field that is wrong, at once', async () => {
    const answer = await post('/body', '{"name": 1, "more": true}')
    expect(answer.status).toBe(422)
    const { error } = (await answer.json()) as { error: { message: string } }
    for (const field of ['name', 'age', 'more']) expect(error.message).toContain(field)
  })

  it.each(['application/json', 'application/json; charset=utf-8', 'application/ld+json'])(
    'is read where its type is %s',
    async type => {
      expect((await post('/body', '{"name": "A", "age": 1}', type)).status).toBe(200)
    },
  )

  it.each(['text/plain', 'application/x-json', 'multipart/form-data', ''])(
    'is refused where its type is %j',
    async type => {
      expect((await post('/body', '{}', type)).status).toBe(415)
    },
  )

  it.each(['', '{', '{"a": 1} x', 'undefined'])('that is %j is no JSON', async text => {
    const answer = await post('/body', text)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { code: 'INVALID_JSON' } })
  })

  it.each(['[]', 'null', '1', '"x"'])('that is %s is no object', async text => {
    expect((await post('/object', text)).status).toBe(422)
  })
})

describe('a bearer token', () => {
  it('is what stands after the scheme, which has any case', () => {
    expect(bearerToken('Bearer abc')).toBe('abc')
    expect(bearerToken('bearer  abc')).toBe('abc')
  })

  it.each([undefined, '', 'abc', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b'])(
    'is not in %j',
    header => {
      expect(() => bearerToken(header)).toThrow(
        expect.objectContaining({ code: 'UNAUTHENTICATED' }),
      )
    },
  )
})
