import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { appOf } from '../../../lib/http/app.ts'
import { type Declaration, endpoint, reply } from '../../../lib/http/endpoint.ts'
import { anyone } from '../../../lib/http/public-access.ts'
import { etagOf } from '../../../lib/http/version.ts'

const declared = {
  method: 'PUT',
  tag: 'Tools',
  summary: 'Change a thing',
  access: anyone,
  responses: { 200: z.object({ version: z.number().nullable() }) },
} as const satisfies Omit<Declaration, 'path'>

const app = appOf({
  optional: endpoint({ ...declared, path: '/optional', ifMatch: 'optional' }, ({ version }) =>
    reply(200, { version: version ?? null }),
  ),
  required: endpoint({ ...declared, path: '/required', ifMatch: 'required' }, ({ version }) =>
    reply(200, { version: version ?? null }),
  ),
})

const put = async (path: string, ifMatch?: string) => {
  const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch }
  const response = await app.request(path, { method: 'PUT', headers })
  const { data, error } = (await response.json()) as {
    data?: { version: number | null }
    error?: { code: string }
  }
  return data ? data.version : error?.code
}

describe('a change', () => {
  it.each([etagOf(7), 'W/"7"', ' "7" '])('is meant for the version that %s names', async tag => {
    expect(await put('/optional', tag)).toBe(7)
    expect(await put('/required', tag)).toBe(7)
  })

  it('without If-Match is meant for any, where a route allows it', async () => {
    expect(await put('/optional')).toBe(null)
    expect(await put('/required')).toBe('VERSION_REQUIRED')
  })

  it('with If-Match * is meant for any, also where a route asks for it', async () => {
    expect(await put('/optional', '*')).toBe(null)
    expect(await put('/required', '*')).toBe(null)
  })

  it.each(['7', '"x"', '"1", "2"', `"${'9'.repeat(16)}"`])(
    'with If-Match %s is refused',
    async tag => {
      expect(await put('/optional', tag)).toBe('BAD_REQUEST')
      expect(await put('/required', tag)).toBe('BAD_REQUEST')
    },
  )
})
