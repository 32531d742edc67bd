import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { newId } from '../../lib/core/ids.ts'
import { admit } from '../../lib/principal/identity.ts'
import { makeSession } from '../session.ts'
import { dataOf, type World } from '../world.ts'
import { playTasks, type TaskFacts } from './play-tasks.ts'

/** What people hold of an installation: all of it has to go on counting. */
export type Facts = TaskFacts & {
  adminKey: string
  userKey: string
  revokedKey: string
  sessionHeaders: Record<string, string>
  invitationToken: string
  claimSecret: string
  person: { issuer: string; subject: string; userId: string }
  groupId: string
  deletedGroupId: string
  memberId: string
  deletedAgentId: string
  configurationId: string
  subscriptionId: string
  webhookSecret: string
  apiKeyOfConfiguration: string
  signingKey: string
}

const SIGNING_KEY = 'a-signing-key-that-was-recorded'
const CONFIGURED_KEY = 'sk-a-providers-key-that-was-recorded'
const CLAIM_SECRET = 'a-claim-secret-that-was-recorded-once'

type Answered = { id: string; key: string; token: string; secret: string; principal_id: string }

/** Plays jobs that leave every kind of row; `record` is called while the last of them still runs. */
export const play = async (world: World, record: () => Promise<void>): Promise<Facts> => {
  const send = async (method: string, path: string, body?: object, key?: string) =>
    dataOf<Answered>(
      await world.request(method, `/api/v1${path}`, {
        ...(body ? { body } : {}),
        ...(key ? { key } : {}),
        headers: method === 'DELETE' ? { 'if-match': '*' } : {},
      }),
    )
  const receiver = await startReceiver()
  process.env.ESPALIER_FETCH_ALLOW = receiver.host
  process.env.ESPALIER_CLAIM_SECRET = CLAIM_SECRET
  await send('POST', '/claim', { secret: CLAIM_SECRET, name: 'Claire' })

  // People, and what lets them in.
  const person = await world.createPerson(['decide'])
  const { id: memberId } = await send('POST', '/users', { name: 'Mary' })
  const { id: groupId } = await send('POST', '/groups', { name: 'Gardeners' })
  await send('POST', `/groups/${groupId}/members`, { user_id: memberId, role: 'member' })
  const { id: deletedGroupId } = await send('POST', '/groups', { name: 'Foresters' })
  await send('DELETE', `/groups/${deletedGroupId}`)
  const { token: invitationToken } = await send('POST', '/invitations', { group_id: groupId })
  const { id: revokedId, key: revokedKey } = await send('POST', '/keys', { name: 'Revoked' })
  await send('DELETE', `/keys/${revokedId}`)
  const { headers } = await makeSession(person.id)
  process.env.ESPALIER_OIDC_ALLOW = 'email_domain=example.com'
  const provided = { issuer: 'https://people.example.com', subject: 'ada' }
  const claims = { sub: 'ada', name: 'Ada', email: 'ada@example.com', email_verified: true }
  const { session } = await admit(
    { ...provided, claims },
    { sessionId: newId('session'), userAgent: 'A test' },
  )

  // Agents, and what they are told of.
  await send('PUT', '/tools/time/settings', { timezone: 'Europe/Berlin' })
  const { principal_id: owner } = await send('GET', '/principals/me')
  await send('PUT', `/principals/${owner}/tools/media/settings`, { signing_key: SIGNING_KEY })
  const { id: configurationId } = await send('POST', '/llm-configurations', {
    ...{ name: 'Ours', provider: 'openai-compatible', model: 'none' },
    ...{ base_url: 'http://127.0.0.1:9/v1', api_key: CONFIGURED_KEY },
    price: { input: 2, output: 10 },
  })
  const { id: subscriptionId, secret: webhookSecret } = await send('POST', '/subscriptions', {
    ...{ name: 'Chat', url: receiver.url },
    events: ['call.waiting', 'task.ended'],
  })
  const deletedAgentId = await world.createAgent(['time'])
  await send('DELETE', `/agents/${deletedAgentId}`)

  const tasks = await playTasks(world, {
    configurationId,
    refuseNotices: receiver.refuse,
    record,
  })
  receiver.close()
  return {
    ...tasks,
    ...{ adminKey: world.adminKey, userKey: person.key, revokedKey, invitationToken },
    ...{ sessionHeaders: headers, claimSecret: CLAIM_SECRET, signingKey: SIGNING_KEY },
    ...{
      groupId,
      deletedGroupId,
      memberId,
      deletedAgentId,
      configurationId,
      subscriptionId,
      webhookSecret,
    },
    person: { ...provided, userId: session.userId },
    apiKeyOfConfiguration: CONFIGURED_KEY,
  }
}

/** A receiver of notices, which takes them until it is told to refuse. */
const startReceiver = async () => {
  let status = 204
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const host = `127.0.0.1:${port}`
  return {
    host,
    url: `http://${host}/hook`,
    refuse: () => {
      status = 503
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
