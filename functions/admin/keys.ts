import * as z from 'zod'
import { notFound } from '../../lib/core/errors.ts'
import { access, demand } from '../../lib/http/access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply } from '../../lib/http/endpoint.ts'
import { KeyId } from '../../lib/http/wire.ts'
import { getKey, revokeKey } from '../../lib/principal/key.ts'

const governedKey = access({
  who: 'A key of its owner, or an admin’s.',
  what: 'key',
  params: { id: KeyId },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  find: async ({ caller, params: { id } }) => {
    const key = await getKey(id)
    const missing = () => notFound('key', id)
    if (!key) throw missing()
    await demand(caller, 'manage-agents', { principalId: key.principalId }, missing)
    return key
  },
})

export const endpoints = {
  revokeKey: endpoint(
    {
      method: 'DELETE',
      path: '/api/v1/keys/{id}',
      tag: 'Keys',
      summary: 'Revoke a key',
      description: 'For good. Revoking again changes nothing.',
      access: governedKey,
      responses: { 200: z.object({ id: KeyId, revoked: z.literal(true) }) },
    },
    async ({ subject: { id } }) => {
      await revokeKey(id)
      return reply(200, { id, revoked: true })
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))
