import * as z from 'zod'
import { anyKey } from '../../lib/http/access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply } from '../../lib/http/endpoint.ts'
import { AgentId, KeyId, PrincipalId, SessionId, UserId } from '../../lib/http/wire.ts'

const key = {
  principal_id: PrincipalId,
  key_id: z.union([KeyId, SessionId]).describe('The key, or the session, that was used.'),
  scopes: z.array(z.enum(['decide'])),
}

const CallerView = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('user'),
      id: UserId,
      ...key,
      role: z.enum(['admin', 'member']),
    }),
    z.object({ kind: z.literal('agent'), id: AgentId, ...key }),
  ])
  .meta({ id: 'Caller', description: 'Whose key a request has.' })

export const endpoints = {
  getCaller: endpoint(
    {
      method: 'GET',
      path: '/api/v1/principals/me',
      tag: 'Principals',
      summary: 'Tell whose key this is',
      access: anyKey,
      responses: { 200: CallerView },
    },
    ({ caller }) => {
      const key = { principal_id: caller.principalId, key_id: caller.keyId, scopes: caller.scopes }
      return caller.kind === 'user'
        ? reply(200, { kind: caller.kind, id: caller.id, ...key, role: caller.role })
        : reply(200, { kind: caller.kind, id: caller.id, ...key })
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))
