import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getAgentTool } from '../../lib/agent/agent-tool.ts'
import { readNotes } from '../../lib/agent/note.ts'
import { invokeFunction } from '../../lib/aws/invoke-function.ts'
import { type Id, newId } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import { configurationKey, LlmConfiguration } from '../../lib/llm/configuration.ts'
import { configurationSource } from '../../lib/llm/sealed-keys.ts'
import { admit } from '../../lib/principal/identity.ts'
import { countAdmins } from '../../lib/principal/principal.ts'
import { decrypt } from '../../lib/settings/secret.ts'
import { readWithSummaries } from '../../lib/task/history.ts'
import { remainsKey, TaskRemains } from '../../lib/task/remains.ts'
import { openStream } from '../event-source.ts'
import { type CallView, dataOf, until } from '../world.ts'
import { readRecording, recordedVersions } from './recording.ts'
import { startUpgraded } from './upgraded.ts'

describe.each(recordedVersions())('what %s has left', version => {
  let world: Awaited<ReturnType<typeof startUpgraded>>
  let facts: Awaited<ReturnType<typeof readRecording>>['facts']
  const receiver = startReceiver()
  beforeAll(async () => {
    const recording = await readRecording(version)
    ;({ facts } = recording)
    world = await startUpgraded(recording)
    process.env.ESPALIER_FETCH_ALLOW = await receiver.host
  })
  afterAll(async () => {
    await world?.stop()
    await receiver.close()
  })

  const get = async (path: string, key?: string) =>
    dataOf<Record<string, never>>(
      await world.request('GET', `/api/v1${path}`, key === undefined ? {} : { key }),
    )
  /** What the schedule does each minute. */
  const sweepNow = () => invokeFunction('sweep', {}, 'awaited')
  const taskOf = (name: string): Id<'task'> => facts.tasks[name] as Id<'task'>

  describe('lets in whoever it has let in', () => {
    it('by keys of people and of agents, and by none that was revoked', async () => {
      expect(await get('/principals/me')).toMatchObject({ scopes: ['decide'] })
      expect(await get('/principals/me', facts.userKey)).toHaveProperty('principal_id')
      const { agentKey: key, revokedKey } = facts
      const answer = await world.run(undefined, 'media.search', {}, { key })
      expect(answer.status, answer.text).toBe(200)
      const refused = await world.request('GET', '/api/v1/tasks', { key: revokedKey })
      expect(refused.status).toBe(401)
    })

    it('by a session, an invitation, and who they are at the provider', async () => {
      const options = { key: null, headers: facts.sessionHeaders }
      const session = await world.request('GET', '/api/v1/sessions/current', options)
      expect(session.status, session.text).toBe(200)
      const body = { token: facts.invitationToken, name: 'Ida' }
      const path = '/api/v1/invitations/accept'
      const accepted = await world.request('POST', path, { key: null, body })
      expect(accepted.status, accepted.text).toBe(201)
      const members = await get(`/groups/${facts.groupId}/members`)
      expect(members).toHaveLength(3)
      process.env.ESPALIER_OIDC_ALLOW = 'email_domain=example.com'
      const { issuer, subject, userId } = facts.person
      const claims = { sub: subject, email: 'ada@example.com', email_verified: true }
      const visit = { sessionId: newId('session'), userAgent: 'A test' }
      const admitted = await admit({ issuer, subject, claims }, visit)
      expect(admitted.session.userId).toBe(userId)
    })

    it('and nobody twice by the secret that made its admin', async () => {
      process.env.ESPALIER_CLAIM_SECRET = facts.claimSecret
      const body = { secret: facts.claimSecret, name: 'Eve' }
      const answer = await world.request('POST', '/api/v1/claim', { key: null, body })
      expect(answer.body.error?.code).toBe('INVALID_STATE')
      expect(await countAdmins()).toBe(2)
    })
  })

  describe('reads', () => {
    it('settings of all layers, with the secrets among them', async () => {
      const { settings } = (await get(
        `/agents/${facts.writerId}/tools/media/settings`,
      )) as unknown as { settings: Record<string, { value: unknown; source: string }> }
      expect(settings.signing_key).toMatchObject({ value: '***', source: 'principal' })
      const file = { filename: 'signed.md', content: 'signed' }
      const { agentKey: key } = facts
      const run = await world.run(undefined, 'media.create_media', file, { key })
      const signature = createHmac('sha256', facts.signingKey).update('signed').digest('hex')
      expect(JSON.parse(dataOf<{ content: string }>(run).content).signature).toBe(signature)
      const time = await get(`/agents/${facts.plannerId}/tools/time/settings`)
      expect(time.settings).toMatchObject({
        timezone: { value: 'Europe/Berlin', source: 'global' },
      })
      const asking = await getAgentTool(facts.plannerId, 'sub_agent')
      expect(asking).toMatchObject({ enabled: true })
    })

    it('the sealed key of a model', async () => {
      const key = configurationKey(facts.configurationId as Id<'llm'>)
      const row = await table.get(LlmConfiguration, key)
      const [field] = configurationSource.sealedIn({ ...key, ...row })
      if (!field) throw new Error('There is no sealed key.')
      expect(decrypt(field.sealed, field.place)).toBe(facts.apiKeyOfConfiguration)
    })

    it('lists of everything, and goes on with one where a page of it had ended', async () => {
      const page = await world.request('GET', `/api/v1/tasks?limit=1&cursor=${facts.cursor.text}`)
      expect(dataOf<{ id: string }[]>(page).map(({ id }) => id)).toEqual([facts.cursor.next])
      for (const path of [
        ...['/users', '/groups', '/agents', '/keys', '/llm-configurations', '/subscriptions'],
        ...['/tasks', '/approvals', '/media', '/audit', '/invitations'],
        `/invitations?group_id=${facts.groupId}`,
        `/subscriptions/${facts.subscriptionId}/deliveries`,
        `/agents/${facts.writerId}/keys`,
        `/llm-configurations/${facts.configurationId}/agents`,
      ])
        expect(Array.isArray(await get(path)), path).toBe(true)
      for (const path of ['/agents', '/tasks', '/approvals', '/media', '/audit'])
        expect(await get(path), path).not.toEqual([])
      const gone = await world.request('GET', `/api/v1/groups/${facts.deletedGroupId}`)
      expect(gone.status).toBe(404)
      const lost = await world.request('GET', `/api/v1/agents/${facts.deletedAgentId}`)
      expect(lost.status).toBe(404)
    })

    it('each task with its history, its calls and its events, whatever became of it', async () => {
      for (const [name, id] of Object.entries(facts.tasks)) {
        if (name.startsWith('delet')) continue
        for (const path of ['', '/history', '/events'])
          expect(await get(`/tasks/${id}${path}`), `${name}${path}`).toBeDefined()
      }
      const statuses = ['done', 'failed', 'aborted', 'cancelled', 'rejected'].map(
        async name => (await world.getTask(taskOf(name))).status,
      )
      const ends = ['COMPLETED', 'FAILED', 'ABORTED', 'CANCELLED', 'COMPLETED']
      expect(await Promise.all(statuses)).toEqual(ends)
      const [call] = (await world.getTask(taskOf('long'))).tool_calls
      expect(call?.arguments.content).toHaveLength(120_000)
      const { summaries } = await readWithSummaries(taskOf('noted'))
      expect(summaries.map(({ text }) => text)).toEqual(['An elm was noted.'])
      const notes = await readNotes(facts.writerId)
      expect(notes.map(({ text }) => text)).toEqual(['Remember the elm.'])
    })

    it('a public link, and revokes it', async () => {
      const { pathname, search } = new URL(facts.publicUrl)
      const opened = await fetch(`${world.url}${pathname}${search}`)
      expect(await opened.text()).toBe('# A note')
      const path = `/api/v1/media/${facts.mediaId}/public-link`
      expect((await world.request('DELETE', path)).status).toBeLessThan(300)
      expect((await fetch(`${world.url}${pathname}${search}`)).status).toBe(404)
    })
  })

  describe('is not done twice', () => {
    it('where a request comes again with its Idempotency-Key', async () => {
      const { key, callId, taskId, prompt } = facts.repeated
      const headers = { 'idempotency-key': key }
      const body = { agent_id: facts.writerId, prompt }
      const again = await world.request('POST', '/api/v1/tasks', { body, headers })
      expect(dataOf<{ id: string }>(again).id).toBe(taskId)
      const file = { filename: 'i.md', content: 'i' }
      const run = await world.run(facts.writerId, 'media.create_media', file, { headers })
      expect(dataOf<{ call_id: string }>(run).call_id).toBe(callId)
    })
  })

  describe('goes on', () => {
    // What kept a task and a notice from going on is mended; nobody has to be told.
    beforeAll(async () => {
      const mend = async (path: string, body: object) =>
        dataOf(
          await world.request('PATCH', `/api/v1${path}`, { body, headers: { 'if-match': '*' } }),
        )
      const model = { provider: 'rehearsal', name: 'script' }
      await mend(`/agents/${facts.retryingAgentId}`, { model })
      const url = `http://${await receiver.host}/hook`
      await mend(`/subscriptions/${facts.subscriptionId}`, { url })
    })

    /** As the operator does: where a tool has been declared anew, the call is asked about again. */
    const approve = async (call: CallView) => {
      const { status } = await world.decide(call, 'approve')
      if (status === 409) await world.decide(await world.getCall(call.id), 'approve')
    }

    it('with notices that were not delivered, signed with the secret that their receiver has', async () => {
      await sweepNow()
      const [first] = await until('a notice', async () =>
        receiver.received.length > 0 ? receiver.received : undefined,
      )
      const signer = new Webhook(facts.webhookSecret)
      const signed = signer.sign(
        String(first?.headers['webhook-id']),
        new Date(Number(first?.headers['webhook-timestamp']) * 1_000),
        first?.text ?? '',
      )
      expect(first?.headers['webhook-signature']).toBe(signed)
    })

    it('to who follows a task, from the last message that they had', async () => {
      const { taskId, lastEventId } = facts.stream
      const stream = await openStream(`${world.url}/api/v1/tasks/${taskId}/stream`, {
        key: facts.adminKey,
        headers: { 'last-event-id': lastEventId },
      })
      expect(stream.status).toBe(200)
      await until('a message', async () => stream.messages.length > 0 || undefined)
      stream.hangUp()
      // What they had is not told again.
      expect(stream.messages.filter(({ event }) => event === 'history')).toEqual([])
    })

    it('with a task whose call is approved now', async () => {
      const [call] = await world.untilApproval(taskOf('approval'))
      await approve(call)
      await world.untilTask(taskOf('approval'), 'COMPLETED')
    })

    it('with a task whose sub-agent’s call is, and which waits for it', async () => {
      const [call] = await world.untilApproval(taskOf('parent'))
      expect(call.task_id).not.toBe(taskOf('parent'))
      await approve(call)
      const { tool_calls } = await world.untilTask(taskOf('parent'), 'COMPLETED')
      expect(tool_calls.map(({ status }) => status)).toEqual(['COMPLETED'])
    })

    it('with what a person answers, and what they settle', async () => {
      const [asking] = (await world.getTask(taskOf('input'))).tool_calls
      const path = (id: string | undefined, what: string) => `/api/v1/tool-calls/${id}/${what}`
      const answer = { body: { answer: 'Elm.' } }
      dataOf(await world.request('POST', path(asking?.id, 'answer'), answer))
      await world.untilTask(taskOf('input'), 'COMPLETED')
      const [lost] = (await world.getTask(taskOf('settlement'))).tool_calls
      const finding = { body: { ran: true, content: '2' } }
      dataOf(await world.request('POST', path(lost?.id, 'settle'), finding))
      await world.untilTask(taskOf('settlement'), 'COMPLETED')
    })

    it('with a retry, a call whose function was away, and the tasks of ticks that died', async () => {
      await sweepNow()
      for (const name of ['retry', 'tool', 'running', 'queued'])
        await world.untilTask(taskOf(name), 'COMPLETED')
    })

    it('with a task that was stopped, and with the deletion of another', async () => {
      const goOn = `/api/v1/tasks/${taskOf('aborted')}/continue`
      dataOf(await world.request('POST', goOn, { body: {} }))
      await world.untilTask(taskOf('aborted'), 'COMPLETED')
      await sweepNow()
      const remains = await table.get(TaskRemains, remainsKey(taskOf('deleting')))
      expect(remains?.clearedAt).toBeDefined()
      const gone = await world.request('GET', `/api/v1/tasks/${taskOf('deleting')}`)
      expect(gone.status).toBe(404)
    })
  })
})

function startReceiver() {
  const received: { headers: IncomingHttpHeaders; text: string }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ headers: request.headers, text: Buffer.concat(chunks).toString() })
    response.writeHead(204).end()
  })
  const host = new Promise<string>(resolve =>
    server.listen(0, '127.0.0.1', () =>
      resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`),
    ),
  )
  const close = () =>
    new Promise(resolve => {
      server.closeAllConnections()
      server.close(resolve)
    })
  return { received, host, close }
}
