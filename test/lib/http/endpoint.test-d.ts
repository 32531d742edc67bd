import { expectTypeOf } from 'vitest'
import * as z from 'zod'
import { access, anyKey } from '../../../lib/http/access.ts'
import { endpoint, reply, replyPage } from '../../../lib/http/endpoint.ts'
import { anyone } from '../../../lib/http/public-access.ts'
import { AgentId } from '../../../lib/http/wire.ts'
import type { Caller } from '../../../lib/principal/caller.ts'

// What a handler gets follows from its declaration, and so does what it may answer.

const View = z.object({ id: z.string(), age: z.int().nullable() })
const found = access({
  who: 'Nobody.',
  params: { id: AgentId },
  find: async ({ params }) => ({ found: params.id }),
})
const common = { method: 'POST', tag: 'Agents', summary: 'Try' } as const

endpoint(
  {
    ...common,
    path: '/things/{id}/{part}',
    access: found,
    params: { part: z.enum(['a', 'b']) },
    query: z.object({ deep: z.coerce.boolean().default(false) }),
    body: z.strictObject({ name: z.string(), age: z.int().optional() }),
    responses: { 200: View, 201: View },
  },
  ({ params, subject, query, body, caller, page }) => {
    expectTypeOf(params.id).toEqualTypeOf<`agent_${string}`>()
    expectTypeOf(params.part).toEqualTypeOf<'a' | 'b'>()
    expectTypeOf(subject).toEqualTypeOf<{ found: `agent_${string}` }>()
    expectTypeOf(query).toEqualTypeOf<{ deep: boolean }>()
    expectTypeOf(body).toEqualTypeOf<{ name: string; age?: number | undefined }>()
    expectTypeOf(caller).toEqualTypeOf<Caller>()
    expectTypeOf(page).toEqualTypeOf<undefined>()
    return reply(body.age ? 200 : 201, { id: body.name, age: body.age ?? null })
  },
)

endpoint(
  { ...common, path: '/things', access: anyone, isPaged: true, responses: { 200: z.array(View) } },
  ({ caller, page, body }) => {
    expectTypeOf(caller).toEqualTypeOf<undefined>()
    expectTypeOf(page).toEqualTypeOf<{ limit: number; cursor?: string }>()
    expectTypeOf(body).toEqualTypeOf<undefined>()
    return replyPage([{ id: 'a', age: null }], undefined)
  },
)

const one = { ...common, path: '/thing', access: anyKey, responses: { 200: View } } as const

endpoint(one, ({ params }) => {
  // @ts-expect-error: the path has no such parameter
  return reply(200, { id: params.id, age: null })
})

// @ts-expect-error: a field is missing
endpoint(one, () => reply(200, { id: 'a' }))

// @ts-expect-error: a field is of another type
endpoint(one, () => reply(200, { id: 'a', age: 'old' }))

// @ts-expect-error: the status is not declared
endpoint(one, () => reply(201, { id: 'a', age: null }))

// @ts-expect-error: a list's page has a cursor
endpoint({ ...one, isPaged: true, responses: { 200: z.array(View) } }, () => reply(200, []))

// @ts-expect-error: the heading is none of the document's
endpoint({ ...one, tag: 'Nowhere' }, () => reply(200, { id: 'a', age: null }))
