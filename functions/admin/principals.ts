import { anyKey } from '../../lib/http/access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply } from '../../lib/http/endpoint.ts'
import {
  CallerView,
  presentAgentCaller,
  presentUserCaller,
} from '../../lib/http/present-principal.ts'
import { groupsOf } from '../../lib/principal/member.ts'
import { getUser } from '../../lib/principal/user.ts'

export const endpoints = {
  getCaller: endpoint(
    {
      method: 'GET',
      path: '/api/v1/principals/me',
      tag: 'Principals',
      summary: 'Tell whose key this is',
      description: 'With the groups that a user is a member of.',
      access: anyKey,
      responses: { 200: CallerView },
    },
    async ({ caller }) => {
      if (caller.kind === 'agent') return reply(200, presentAgentCaller(caller))
      const [{ name }, memberships] = await Promise.all([getUser(caller.id), groupsOf(caller.id)])
      return reply(200, presentUserCaller(caller, { name, memberships }))
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))
