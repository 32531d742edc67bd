import { gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { contentOf, sendContent } from '../../../lib/http/content.ts'

const TEXT = 'hello '.repeat(1_000)
const text = await contentOf('text/plain; charset=utf-8', Buffer.from(TEXT))
const picture = await contentOf('image/png', Buffer.from([1, 2, 3]))
const app = new Hono()
  .get('/text', context => sendContent(context, text))
  .get('/picture', context => sendContent(context, picture))

const get = (headers: Record<string, string> = {}, path = '/text') => app.request(path, { headers })

it('is sent as it is to who takes nothing else', async () => {
  for (const header of [undefined, '', 'br', 'gzip;q=0', 'deflate, gzip; q=0.0', 'x-gzip']) {
    const answer = await get(header === undefined ? {} : { 'accept-encoding': header })
    expect(await answer.text()).toBe(TEXT)
    expect(answer.headers.get('content-encoding')).toBeNull()
  }
})

it('is sent compressed to who takes that', async () => {
  for (const header of ['gzip', 'br, GZIP', 'gzip;q=0.5', 'deflate, gzip ; q=1']) {
    const answer = await get({ 'accept-encoding': header })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(bytes.length).toBeLessThan(TEXT.length / 10)
    expect(gunzipSync(bytes).toString()).toBe(TEXT)
  }
})

it('is not compressed where that gains nothing', async () => {
  const answer = await get({ 'accept-encoding': 'gzip' }, '/picture')
  expect(answer.headers.get('content-encoding')).toBeNull()
  expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([1, 2, 3])
})

it('is not sent again to who has it', async () => {
  const tag = (await get()).headers.get('etag') ?? ''
  for (const header of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
    const answer = await get({ 'if-none-match': header })
    expect([answer.status, await answer.text()]).toEqual([304, ''])
    expect(answer.headers.get('etag')).toBe(tag)
  }
  for (const header of ['', '"other"', tag.replace(/"$/, 'x"')])
    expect((await get({ 'if-none-match': header })).status).toBe(200)
})

it('has another tag when it is another', async () => {
  const other = await contentOf('text/plain', Buffer.from(`${TEXT}!`))
  expect(other.etag).not.toBe(text.etag)
})

it('is asked for each time, and is of the type that it says', async () => {
  const { headers } = await get()
  expect(headers.get('cache-control')).toBe('public, no-cache')
  expect(headers.get('vary')).toBe('accept-encoding')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
})
