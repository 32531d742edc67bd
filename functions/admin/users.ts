import * as z from 'zod'
import { auditWrite } from '../../lib/audit/audit.ts'
import { isoNow } from '../../lib/core/clock.ts'
import { AppError, notFound } from '../../lib/core/errors.ts'
import { access, demand } from '../../lib/http/access.ts'
import { demandInstance, instanceAdmin } from '../../lib/http/admin-access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { authorOf } from '../../lib/http/author.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import { InstanceRole, presentUser, UserView } from '../../lib/http/present-principal.ts'
import { creationOf, sameRequest } from '../../lib/http/request.ts'
import { Name, UserId } from '../../lib/http/wire.ts'
import type { Permission } from '../../lib/principal/permission.ts'
import { createUser, type User } from '../../lib/principal/principal.ts'
import { changed, getUser, listUsers, replaceUser } from '../../lib/principal/user.ts'

const UserBody = z
  .strictObject({ name: Name, role: InstanceRole.default('member') })
  .meta({ id: 'NewUser', examples: [{ name: 'Ada' }] })
const ChangeBody = z
  .strictObject({
    name: Name.optional(),
    role: InstanceRole.optional().describe('For admins.'),
    disabled: z.boolean().optional().describe('For admins.'),
  })
  .meta({ id: 'UserChange' })

const userFor = (permission: Permission, who: string) =>
  access({
    who,
    what: 'user',
    params: { id: UserId },
    errors: ['NOT_FOUND'],
    find: async ({ caller, params: { id } }) => {
      await demand(caller, permission, { principalId: id }, () => notFound('user', id))
      return getUser(id)
    },
  })

const tag = 'Users'

export const endpoints = {
  listUsers: endpoint(
    {
      method: 'GET',
      path: '/api/v1/users',
      tag,
      summary: 'List users',
      access: instanceAdmin,
      isPaged: true,
      responses: { 200: z.array(UserView) },
    },
    async ({ page }) => {
      const { items, cursor } = await listUsers(page)
      return replyPage(items.map(presentUser), cursor)
    },
  ),

  createUser: endpoint(
    {
      method: 'POST',
      path: '/api/v1/users',
      tag,
      summary: 'Make a user',
      description: 'Who gets in with a key, which POST /api/v1/keys makes for a `user_id`.',
      access: instanceAdmin,
      isRepeatable: true,
      body: UserBody,
      responses: { 200: UserView, 201: UserView },
      errors: ['IDEMPOTENCY_MISMATCH'],
    },
    async ({ subject: caller, body, idempotencyKey }) => {
      const route = 'users'
      const { id, requestHash } = creationOf('user', { caller, route, body, idempotencyKey })
      const entry = { ...authorOf(caller), action: 'user-created', target: id, to: body }
      const { ok, item } = await createUser(
        { id, ...body, createdAt: isoNow(), requestHash },
        { also: [auditWrite('instance', entry)] },
      )
      if (!item) throw new AppError('INTERNAL', 'The user was not stored.')
      if (!ok) sameRequest(item.requestHash, requestHash)
      return reply(ok ? 201 : 200, presentUser(item))
    },
  ),

  getUser: endpoint(
    {
      method: 'GET',
      path: '/api/v1/users/{id}',
      tag,
      summary: 'Show a user',
      access: userFor('read', 'The user’s own key, or an admin’s.'),
      responses: { 200: UserView },
    },
    ({ subject }) => reply(200, presentUser(subject)),
  ),

  changeUser: endpoint(
    {
      method: 'PATCH',
      path: '/api/v1/users/{id}',
      tag,
      summary: 'Change a user',
      description:
        'Everyone says what they are called; admins also who is an admin, and who is disabled. An enabled admin stays.',
      access: userFor('edit-profile', 'The user’s own key for the name, or an admin’s.'),
      body: ChangeBody,
      responses: { 200: UserView },
      errors: ['FORBIDDEN', 'INVALID_STATE', 'ROLE_RULE_VIOLATION'],
    },
    async ({ subject: seen, caller, body }) => {
      const { name, role, disabled } = body
      if (role !== undefined || disabled !== undefined) demandInstance(caller)
      const next = changed(seen, {
        ...(name === undefined ? {} : { name }),
        ...(role === undefined ? {} : { role }),
        ...(disabled === undefined ? {} : { disabled }),
      })
      const entries = changesOf(seen, next).map(change => ({
        ...authorOf(caller),
        action: 'user-changed',
        target: seen.id,
        ...change,
      }))
      if (entries.length === 0) return reply(200, presentUser(seen))
      const also = entries.map(entry => auditWrite('instance', entry))
      return reply(200, presentUser(await replaceUser(seen, next, { also })))
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))

/** What of a user a change makes another, field by field. */
const changesOf = (seen: User, next: User) => {
  const [before, after] = [presentUser(seen), presentUser(next)]
  return (['name', 'role', 'disabled'] as const)
    .filter(field => before[field] !== after[field])
    .map(field => ({ field, from: before[field], to: after[field] }))
}
