import * as z from 'zod'
import { findAgent, stillOf } from '../../lib/agent/agent.ts'
import { auditWrite } from '../../lib/audit/audit.ts'
import { AppError, notFound } from '../../lib/core/errors.ts'
import type { TransactionWrite } from '../../lib/data/transact.ts'
import { access, demand, governingUser } from '../../lib/http/access.ts'
import { managedAgent } from '../../lib/http/agent-access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { authorOf } from '../../lib/http/author.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import { AgentKeyBody, grantOf, KeyBody } from '../../lib/http/key-body.ts'
import { listOwner, OwnerQuery } from '../../lib/http/list-owner.ts'
import { KeyView, NewKeyView, presentKeys } from '../../lib/http/present-key.ts'
import { creationOf } from '../../lib/http/request.ts'
import { KeyId } from '../../lib/http/wire.ts'
import type { Caller } from '../../lib/principal/caller.ts'
import {
  type ApiKey,
  createKey,
  getKey,
  pageAgentKeys,
  pageKeys,
  revokeKey,
} from '../../lib/principal/key.ts'
import type { PrincipalId } from '../../lib/principal/principal.ts'
import { getUser } from '../../lib/principal/user.ts'

const tag = 'Keys'

/** The key in the path, for those who manage what it acts for. */
const managedKey = access({
  who: 'A key of its owner, of an owner or admin of the group whose agent it acts for, or an admin’s.',
  what: 'key',
  params: { id: KeyId },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  find: async ({ caller, params: { id } }) => {
    const key = await getKey(id)
    const missing = () => notFound('key', id)
    if (!key) throw missing()
    const principalId = await ownerOf(key)
    await demand(caller, 'manage-agents', { principalId }, missing)
    return { key, principalId }
  },
})

const isOfAgent = (id: ApiKey['subjectId']) => id.startsWith('agent_')

/** Whose a key is: an agent's goes wherever the agent does. */
const ownerOf = async ({ subjectId, principalId }: ApiKey): Promise<PrincipalId> => {
  if (!isOfAgent(subjectId)) return principalId
  const agent = await findAgent(subjectId as `agent_${string}`)
  return agent?.principalId ?? principalId
}

export const endpoints = {
  listKeys: endpoint(
    {
      method: 'GET',
      path: '/api/v1/keys',
      tag,
      summary: 'List keys',
      description:
        'One’s own and those of one’s agents, or of another principal whose agents one manages. Expired and revoked ones say so.',
      access: governingUser,
      query: OwnerQuery,
      isPaged: true,
      responses: { 200: z.array(KeyView) },
      errors: ['NOT_FOUND'],
    },
    async ({ subject: caller, query, page }) => {
      const owner = await listOwner(caller, query, 'manage-agents')
      const { items, cursor } = await pageKeys(owner, page)
      return replyPage(await presentKeys(items), cursor)
    },
  ),

  createKey: endpoint(
    {
      method: 'POST',
      path: '/api/v1/keys',
      tag,
      summary: 'Make a key for oneself',
      description:
        'The answer is the one time that its text is shown. It gives no more than the key that makes it: no scope that one lacks, and no time after that one’s end. Admins make keys for other users as well.',
      access: governingUser,
      isRepeatable: true,
      body: KeyBody,
      responses: { 201: NewKeyView },
      errors: ['NOT_FOUND', 'INVALID_STATE'],
    },
    async ({ subject: caller, body, idempotencyKey }) => {
      const { user_id: userId = caller.id, name, scopes, expires_at: expiresAt } = body
      if (userId !== caller.id) {
        await demand(caller, 'manage-instance', { principalId: userId }, () =>
          notFound('user', userId),
        )
        await getUser(userId)
      }
      const { id } = creationOf('key', { caller, route: 'keys', body, idempotencyKey })
      const owner = { subjectId: userId, principalId: userId }
      return make(caller, id, { name, ...owner, ...grantOf(caller, { scopes, expiresAt }) })
    },
  ),

  listAgentKeys: endpoint(
    {
      method: 'GET',
      path: '/api/v1/agents/{id}/keys',
      tag,
      summary: 'List the keys of an agent',
      access: managedAgent,
      isPaged: true,
      responses: { 200: z.array(KeyView) },
    },
    async ({ subject: agent, page }) => {
      const { items, cursor } = await pageAgentKeys(agent.id, page)
      return replyPage(await presentKeys(items), cursor)
    },
  ),

  createAgentKey: endpoint(
    {
      method: 'POST',
      path: '/api/v1/agents/{id}/keys',
      tag,
      summary: 'Make a key for an agent',
      description:
        'The answer is the one time that its text is shown. It lasts no longer than the key that makes it.',
      access: managedAgent,
      isRepeatable: true,
      body: AgentKeyBody,
      responses: { 201: NewKeyView },
      errors: ['INVALID_STATE'],
    },
    async ({ subject: agent, caller, body, idempotencyKey }) => {
      const route = `agents/${agent.id}/keys`
      const { id } = creationOf('key', { caller, route, body, idempotencyKey })
      const owner = { subjectId: agent.id, principalId: agent.principalId }
      const grant = grantOf(caller, { expiresAt: body.expires_at })
      return make(caller, id, { name: body.name, ...owner, ...grant }, [stillOf(agent)])
    },
  ),

  revokeKey: endpoint(
    {
      method: 'DELETE',
      path: '/api/v1/keys/{id}',
      tag,
      summary: 'Revoke a key',
      description: 'For good. Revoking again changes nothing.',
      access: managedKey,
      responses: { 200: z.object({ id: KeyId, revoked: z.literal(true) }) },
    },
    async ({ subject: { key, principalId }, caller }) => {
      const { id, name, subjectId } = key
      const from = { name, acts_for: subjectId }
      const entry = { ...authorOf(caller), action: 'key-revoked', target: id, from }
      await revokeKey(id, { also: [auditWrite(principalId, entry)] })
      return reply(200, { id, revoked: true })
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))

/** Makes a key, and shows its text this once: under the same Idempotency-Key not again. */
const make = async (
  caller: Caller,
  id: ApiKey['id'],
  owner: Omit<Parameters<typeof createKey>[0], 'createdBy'>,
  holds: TransactionWrite[] = [],
) => {
  const { name, subjectId, principalId, scopes, expiresAt = null } = owner
  const to = { name, acts_for: subjectId, scopes, expires_at: expiresAt }
  const entry = { ...authorOf(caller), action: 'key-created', target: id, to }
  const { key, text, created } = await createKey(
    { ...owner, ...(caller.kind === 'user' ? { createdBy: caller.id } : {}) },
    { id, also: [auditWrite(principalId, entry), ...holds] },
  )
  if (created) return reply(201, { id, name, key: text, scopes, expires_at: expiresAt })
  // An agent may have gone, or become another's, in this moment.
  if (!(await getKey(id))) throw notFound('agent', subjectId)
  throw new AppError(
    'INVALID_STATE',
    `The key ${key.id} was made under this Idempotency-Key, and its text is shown only once. If it was lost, revoke that key and make another one.`,
    { details: { id: key.id } },
  )
}
