import * as z from 'zod'
import { clearGroup } from '../../lib/agent/clear-group.ts'
import { auditWrite } from '../../lib/audit/audit.ts'
import { notFound } from '../../lib/core/errors.ts'
import { demand, governingUser } from '../../lib/http/access.ts'
import { demandInstance } from '../../lib/http/admin-access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { authorOf } from '../../lib/http/author.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import { managedGroup, readableGroup, removableGroup } from '../../lib/http/group-access.ts'
import { GroupView, presentGroup } from '../../lib/http/present-group.ts'
import { creationOf, sameRequest } from '../../lib/http/request.ts'
import { GroupId, Name } from '../../lib/http/wire.ts'
import { clearSubscriptions } from '../../lib/notification/change.ts'
import type { Caller } from '../../lib/principal/caller.ts'
import {
  closeGroup,
  createGroup,
  deleteGroup,
  type Group,
  listGroups,
  renameGroup,
} from '../../lib/principal/group.ts'
import { pageGroupsOf, roleIn } from '../../lib/principal/member.ts'
import { tools as registry } from '../tools/index.ts'
import { memberEndpoints } from './groups/members.ts'

const GroupBody = z
  .strictObject({ name: Name })
  .meta({ id: 'NewGroup', examples: [{ name: 'Gardeners' }] })

const tag = 'Groups'

export const endpoints = {
  listGroups: endpoint(
    {
      method: 'GET',
      path: '/api/v1/groups',
      tag,
      summary: 'List groups',
      description: 'Those that one is a member of; for admins with `all=true`, every group.',
      access: governingUser,
      query: z.object({ all: z.enum(['true', 'false']).optional() }),
      isPaged: true,
      responses: { 200: z.array(GroupView) },
    },
    async ({ subject: caller, query, page }) => {
      if (query.all !== 'true') {
        const { items, cursor } = await pageGroupsOf(caller.id, page)
        return replyPage(
          items.map(({ group, role }) => presentGroup(group, role)),
          cursor,
        )
      }
      demandInstance(caller)
      const { items, cursor } = await listGroups(page)
      return replyPage(await Promise.all(items.map(group => present(group, caller))), cursor)
    },
  ),

  createGroup: endpoint(
    {
      method: 'POST',
      path: '/api/v1/groups',
      tag,
      summary: 'Make a group',
      description: 'Whoever makes it owns it.',
      access: governingUser,
      isRepeatable: true,
      body: GroupBody,
      responses: { 200: GroupView, 201: GroupView },
      errors: ['IDEMPOTENCY_MISMATCH', 'NOT_FOUND', 'INVALID_STATE'],
    },
    async ({ subject: caller, body, idempotencyKey }) => {
      const { id, requestHash } = creationOf('group', {
        caller,
        route: 'groups',
        body,
        idempotencyKey,
      })
      const { name } = body
      const entry = { ...authorOf(caller), action: 'group-created', target: id, to: { name } }
      const { group, created } = await createGroup(
        { id, name, requestHash },
        { ownerId: caller.id, also: [auditWrite(id, entry)] },
      )
      // Whoever made it may have left it since.
      if (!created) await demand(caller, 'read', { principalId: id }, () => notFound('group', id))
      if (!created) sameRequest(group.requestHash, requestHash)
      return reply(created ? 201 : 200, await present(group, caller))
    },
  ),

  getGroup: endpoint(
    {
      method: 'GET',
      path: '/api/v1/groups/{id}',
      tag,
      summary: 'Show a group',
      access: readableGroup,
      responses: { 200: GroupView },
    },
    async ({ subject: group, caller }) => reply(200, await present(group, caller)),
  ),

  renameGroup: endpoint(
    {
      method: 'PATCH',
      path: '/api/v1/groups/{id}',
      tag,
      summary: 'Rename a group',
      access: managedGroup,
      body: GroupBody,
      responses: { 200: GroupView },
      errors: ['INVALID_STATE'],
    },
    async ({ subject: group, caller, body: { name } }) => {
      if (name === group.name) return reply(200, await present(group, caller))
      const entry = {
        ...authorOf(caller),
        action: 'group-changed',
        target: group.id,
        field: 'name',
        from: group.name,
        to: name,
      }
      const renamed = await renameGroup(group, name, { also: [auditWrite(group.id, entry)] })
      return reply(200, await present(renamed, caller))
    },
  ),

  deleteGroup: endpoint(
    {
      method: 'DELETE',
      path: '/api/v1/groups/{id}',
      tag,
      summary: 'End a group',
      description:
        'Not while it owns agents: delete or transfer them first. Its settings, LLM configurations and subscriptions go with it. Where this was cut short, whoever asked asks again to finish it.',
      access: removableGroup,
      responses: { 200: z.object({ id: GroupId, deleted: z.literal(true) }) },
      errors: ['GROUP_HAS_AGENTS'],
    },
    async ({ subject, caller }) => {
      const { id, name } = subject
      if (!('endedAt' in subject)) {
        // Nobody reads the log of a group that has ended but who reads the instance's.
        const entry = { ...authorOf(caller), action: 'group-deleted', target: id, from: { name } }
        await deleteGroup(subject, { by: caller.id, also: [auditWrite('instance', entry)] })
      }
      await clearGroup(id, Object.keys(registry))
      await clearSubscriptions(id)
      await closeGroup(id)
      return reply(200, { id, deleted: true })
    },
  ),

  ...memberEndpoints,
}

export const handler = handlerOf(appOf(endpoints))

/** A group as its caller sees it. */
const present = async (group: Group, caller: Caller) =>
  presentGroup(group, caller.kind === 'user' ? await roleIn(group.id, caller.id) : undefined)
