import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { listAudit } from '../../lib/audit/audit.ts'
import type { Id } from '../../lib/core/ids.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { DECIDERS, type Decider } from '../../lib/tool/words.ts'
import { useWorld, world } from '../use-world.ts'
import { type CallView, dataOf, type Person, until } from '../world.ts'

const go = {
  description: 'Go.',
  parameters: z.object({}),
  effect: 'idempotent',
  requiresApprovalByDefault: true,
  describe: () => 'Go',
  execute: () => 'gone',
} as const
const probe = defineTool({
  name: 'probe',
  description: 'Asks first.',
  operations: {
    go,
    // Left to owners by whoever wrote it, and never to who started the task.
    grave: { ...go, decidedByDefault: 'owner', neverByStarterByDefault: true },
    free: { ...go, requiresApprovalByDefault: false, decidedByDefault: 'owner' },
  },
})

useWorld([probe])

type Who = 'root' | 'owner' | 'admin' | 'member' | 'stranger'
type Deciding = {
  decided_by: Decider
  never_by_starter: boolean
  started_by: string[]
  may_decide: boolean
  who: string
}
type Waiting = CallView & { who_decides: Deciding | null }

let people: Record<Who, Person>
let group: Id<'group'>
let agent: Id<'agent'>
let agentKey: string
beforeAll(async () => {
  const [owner, admin, member, stranger, root] = await Promise.all(
    Array.from({ length: 5 }, () => world.createPerson(['decide'])),
  )
  if (!owner || !admin || !member || !stranger || !root) throw new Error('There is nobody.')
  people = { owner, admin, member, stranger, root }
  await patch(`/users/${root.id}`, { role: 'admin' })
  const made = { body: { name: 'Group' }, key: owner.key }
  group = dataOf<{ id: Id<'group'> }>(await world.request('POST', '/api/v1/groups', made)).id
  for (const role of ['admin', 'member'] as const) {
    const body = { user_id: people[role].id, role }
    dataOf(await world.request('POST', `/api/v1/groups/${group}/members`, { body }))
  }
  agent = await world.createAgent(['probe'], { key: owner.key, principal_id: group })
  agentKey = (await world.createAgentKey(agent)).key
})

const patch = async (path: string, body: object) =>
  dataOf(await world.request('PATCH', `/api/v1${path}`, { body }))
const ruleOf = (of: string, operation = 'go') =>
  `/api/v1/agents/${of}/tools/probe/operations/${operation}`
const rule = (body: object, key = people.root.key, operation = 'go') =>
  world.request('PATCH', ruleOf(agent, operation), { body, key })

const ask = async (key: string, of = agent, operation = 'go'): Promise<string> => {
  const answer = await world.run(of, `probe.${operation}`, {}, { key })
  expect(answer.status).toBe(202)
  return (answer.body.data as { call_id: string }).call_id
}
const read = (id: string, key: string) => world.request('GET', `/api/v1/tool-calls/${id}`, { key })
const seen = async (id: string, key: string) => dataOf<Waiting>(await read(id, key))
const decide = (id: string, how: string, key: string, digest = 'f'.repeat(64)) =>
  world.request('POST', `/api/v1/tool-calls/${id}/${how}`, { body: { digest }, key })

/** The rule once more, as a person would tell it. */
const LEAST: Record<Decider, Who[]> = {
  member: ['root', 'owner', 'admin', 'member'],
  admin: ['root', 'owner', 'admin'],
  owner: ['root', 'owner'],
  'instance-admin': ['root'],
}
const isAllowed = (who: Who, starter: string, by: Decider, never: boolean) =>
  LEAST[by].includes(who) && !(never && who === starter)

describe('who decides', () => {
  it('is what the rule says: each role, each rule, each starter', {
    timeout: 120_000,
  }, async () => {
    const starters: [string, string][] = [
      ...(['root', 'owner', 'admin', 'member'] as const).map((who): [string, string] => [
        who,
        people[who].key,
      ]),
      ['agent', agentKey],
    ]
    const calls = new Map<string, string>()
    for (const [starter, key] of starters) calls.set(starter, await ask(key))
    for (const by of DECIDERS)
      for (const never of [false, true]) {
        dataOf(await rule({ decided_by: by, never_by_starter: never }))
        for (const [starter, id] of calls)
          for (const who of Object.keys(people) as Who[]) {
            const what = { by, never, starter, who }
            const { key } = people[who]
            const answer = await read(id, key)
            // With a digest of nothing, who may decide is told that it is no more the same call.
            const statuses = [
              (await decide(id, 'approve', key)).status,
              (await decide(id, 'reject', key)).status,
            ]
            if (who === 'stranger') {
              expect({ ...what, statuses, read: answer.status }).toEqual({
                ...what,
                statuses: [404, 404],
                read: 404,
              })
              continue
            }
            const may = isAllowed(who, starter, by, never)
            const started = starter === 'agent' ? agent : people[starter as Who].id
            expect({ ...what, statuses, shown: dataOf<Waiting>(answer).who_decides }).toEqual({
              ...what,
              statuses: may ? [409, 409] : [403, 403],
              shown: {
                decided_by: by,
                never_by_starter: never,
                started_by: [started],
                may_decide: may,
                who: expect.stringContaining('admin of the instance may'),
              },
            })
          }
      }
    for (const id of calls.values())
      expect((await world.getCall(id)).status).toBe('PENDING_APPROVAL')
    dataOf(await rule({ decided_by: null, never_by_starter: null }))
  })

  it('is nobody without the scope, and no agent', async () => {
    const id = await ask(people.member.key)
    const { key } = await world.createUserKey(people.owner.id)
    expect((await seen(id, key)).who_decides).toMatchObject({ may_decide: false })
    const answer = await decide(id, 'approve', key)
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('scope')])
    expect((await seen(id, agentKey)).who_decides).toMatchObject({ may_decide: false })
    expect((await decide(id, 'reject', agentKey)).status).toBe(403)
  })

  it('is told in the list of what waits, and to who may not as a sentence', async () => {
    dataOf(await rule({ decided_by: 'owner', never_by_starter: true }))
    const id = await ask(people.owner.key)
    const list = async (key: string) =>
      dataOf<Waiting[]>(
        await world.request('GET', `/api/v1/approvals?principal_id=${group}`, { key }),
      )
    const own = (await list(people.owner.key)).find(call => call.id === id)
    const who = `An owner of the group, or an admin of the instance may, but never ${people.owner.id}, who started it.`
    expect(own?.who_decides).toMatchObject({ may_decide: false, who })
    const theirs = (await list(people.root.key)).find(call => call.id === id)
    expect(theirs?.who_decides).toMatchObject({ may_decide: true, who })
    const refused = await decide(id, 'approve', people.owner.key, own?.digest)
    expect([refused.status, refused.body.error?.message]).toEqual([
      403,
      expect.stringContaining(who),
    ])
    // To edit is to approve.
    const body = { digest: own?.digest, arguments: {} }
    const path = `/api/v1/tool-calls/${id}/approve`
    expect((await world.request('POST', path, { body, key: people.owner.key })).status).toBe(403)
    const approved = await decide(id, 'approve', people.root.key, own?.digest)
    expect(approved.status).toBe(200)
    expect(await world.untilCall(id, 'COMPLETED')).toMatchObject({ status: 'COMPLETED' })
    expect((await seen(id, people.root.key)).who_decides).toBeNull()
    dataOf(await rule({ decided_by: null, never_by_starter: null }))
  })

  it('of a task’s call is asked about who started the task', async () => {
    dataOf(await rule({ never_by_starter: true }))
    const body = { agent_id: agent, prompt: '/probe go {}' }
    const { id } = dataOf<{ id: string }>(
      await world.request('POST', '/api/v1/tasks', { body, key: people.admin.key }),
    )
    const calls = async () =>
      dataOf<Waiting[]>(await world.request('GET', `/api/v1/approvals?principal_id=${group}`))
    const call = await until('it asks', async () =>
      (await calls()).find(each => each.task_id === id),
    )
    expect(call.who_decides).toMatchObject({
      started_by: [people.admin.id],
      never_by_starter: true,
    })
    expect((await decide(call.id, 'approve', people.admin.key, call.digest)).status).toBe(403)
    expect((await decide(call.id, 'approve', people.owner.key, call.digest)).status).toBe(200)
    await world.untilTask(id, 'COMPLETED')
    dataOf(await rule({ never_by_starter: null }))
  })

  it('is none of those who started a task and had it go on', async () => {
    dataOf(await rule({ never_by_starter: true }))
    const start = { agent_id: agent, prompt: 'Say something.' }
    const post = async (path: string, body: object, key: string) =>
      dataOf<{ id: string }>(await world.request('POST', `/api/v1/tasks${path}`, { body, key }))
    const { id } = await post('', start, people.admin.key)
    await world.untilTask(id, 'COMPLETED')
    await post(`/${id}/follow-up`, { prompt: '/probe go {}' }, people.owner.key)
    const call = await until('it asks', async () => {
      const calls = await world.request('GET', `/api/v1/approvals?principal_id=${group}`)
      return dataOf<Waiting[]>(calls).find(each => each.task_id === id)
    })
    expect(call.who_decides?.started_by).toEqual([people.admin.id, people.owner.id])
    for (const { key } of [people.admin, people.owner])
      expect((await decide(call.id, 'approve', key, call.digest)).status).toBe(403)
    expect((await decide(call.id, 'reject', people.root.key, call.digest)).status).toBe(200)
    dataOf(await rule({ never_by_starter: null }))
  })

  it('is who has the role as they decide, and not before', async () => {
    const late = await world.createPerson(['decide'])
    const body = { user_id: late.id, role: 'admin' }
    dataOf(await world.request('POST', `/api/v1/groups/${group}/members`, { body }))
    const id = await ask(people.owner.key)
    const { digest, who_decides } = await seen(id, late.key)
    expect(who_decides).toMatchObject({ may_decide: true })
    await patch(`/groups/${group}/members/${late.id}`, { role: 'member' })
    expect((await decide(id, 'approve', late.key, digest)).status).toBe(403)
    dataOf(await world.request('DELETE', `/api/v1/groups/${group}/members/${late.id}`))
    expect((await decide(id, 'approve', late.key, digest)).status).toBe(404)
  })

  it('is what the tool’s author declared, where no operator says otherwise', async () => {
    const id = await ask(people.owner.key, agent, 'grave')
    expect((await seen(id, people.owner.key)).who_decides).toMatchObject({
      decided_by: 'owner',
      never_by_starter: true,
      may_decide: false,
    })
    expect((await decide(id, 'reject', people.admin.key)).status).toBe(403)
  })
})

describe('the rule about who decides', () => {
  it('is said with the scope, by who decides so far, and is in the log', async () => {
    const owners = { decided_by: 'owner', never_by_starter: true }
    const plain = await world.createUserKey(people.owner.id)
    for (const body of [owners, { decided_by: null }, { never_by_starter: false }]) {
      expect((await rule(body, plain.key)).status).toBe(403)
      expect((await rule(body, people.member.key)).status).toBe(403)
      expect((await rule(body, people.stranger.key)).status).toBe(404)
    }
    // An admin of the group may tie it closer, and then it is the owners' to loosen.
    dataOf(await rule(owners, people.admin.key))
    for (const body of [
      { requires_approval: false },
      { decided_by: 'admin' },
      { decided_by: null },
    ]) {
      const answer = await rule(body, people.admin.key)
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('an owner')])
    }
    // What loosens nothing is theirs as before.
    dataOf(await rule({ enabled: true, requires_approval: true }, people.admin.key))
    const shown = dataOf<{ overrides: object; operations: object[] }>(
      await rule({ requires_approval: null, enabled: null }, people.owner.key),
    )
    expect(shown).toMatchObject({
      overrides: { go: { ...owners, enabled: null, requires_approval: null } },
      operations: expect.arrayContaining([
        expect.objectContaining({
          name: 'go',
          ...owners,
          source: expect.objectContaining({ decided_by: 'override', never_by_starter: 'override' }),
        }),
      ]),
    })
    dataOf(await rule({ decided_by: null, never_by_starter: null }, people.owner.key))
    const { items } = await listAudit(group, { limit: 100 })
    const told = items.filter(({ action }) => action === 'agent-tool-changed')
    expect(told[0]).toMatchObject({
      by: people.owner.id,
      field: 'probe',
      from: { 'go.decided_by': 'owner', 'go.never_by_starter': true },
      to: { 'go.decided_by': null, 'go.never_by_starter': null },
    })
  })

  it.each([{ decided_by: 'nobody' }, { decided_by: 'self' }, { never_by_starter: 'yes' }])(
    'is refused as %j',
    async body => {
      expect((await rule(body)).status).toBe(422)
    },
  )

  it('goes with a template, which takes the same right', async () => {
    dataOf(await rule({ decided_by: 'owner' }))
    const template = dataOf<{ id: string }>(
      await world.request('GET', `/api/v1/agents/${agent}/export`),
    )
    expect(template).toMatchObject({
      tools: [{ operations: [{ name: 'go', decided_by: 'owner' }] }],
    })
    dataOf(await rule({ decided_by: null }))
    const path = `/api/v1/agent-templates/import?principal_id=${group}`
    const put = (body: object, key: string) => world.request('POST', path, { body, key })
    const plain = await world.createUserKey(people.owner.id)
    expect((await put(template, plain.key)).status).toBe(403)
    expect((await put(template, people.admin.key)).status).toBe(201)
    const loose = (name: string) => ({
      ...template,
      tools: [{ tool_class: 'probe', operations: [{ name, requires_approval: false }] }],
    })
    expect((await put(loose('go'), people.admin.key)).status).toBe(201)
    expect((await put(loose('grave'), people.admin.key)).status).toBe(403)
    expect((await put(loose('grave'), people.owner.key)).status).toBe(201)
  })

  it('is loosened by no agent', async () => {
    const builder = await world.createAgent(['agent'])
    for (const operation of ['create_agent', 'configure_tools'])
      await world.override(builder, `agent.${operation}`, {
        requires_approval: operation === 'configure_tools',
      })
    const run = async (operation: string, body: object) => {
      const headers = { 'idempotency-key': crypto.randomUUID() }
      return world.run(builder, `agent.${operation}`, body, { headers })
    }
    const made = dataOf<{ content: string }>(
      await run('create_agent', { name: 'Child', system_prompt: '' }),
    )
    const { agent_id } = JSON.parse(made.content) as { agent_id: string }
    const lift = async (name: string) => {
      const tools = [{ tool_class: 'probe', operations: [{ name, auto_approve: true }] }]
      const { call_id } = dataOf<{ call_id: string }>(
        await run('configure_tools', { agent_id, tools }),
      )
      dataOf(await world.decide(await world.getCall(call_id), 'approve'))
      return (await world.untilCall(call_id, 'COMPLETED', 'FAILED')).result
    }
    expect(await lift('go')).toMatchObject({ is_error: false })
    for (const name of ['grave', 'free'])
      expect(await lift(name)).toMatchObject({
        is_error: true,
        content: expect.stringContaining('only a person'),
      })
  })
})

describe('a call that nobody is left to decide', () => {
  it('is not asked for by a rule, says so where it comes to that, and is freed as the rule goes', async () => {
    const me = dataOf<{ id: string }>(await world.request('GET', '/api/v1/principals/me')).id
    const own = await world.createAgent(['probe'])
    const never = (body: object) => world.request('PATCH', ruleOf(own), { body })
    // There are two admins of the instance.
    dataOf(await never({ never_by_starter: true }))
    const id = await ask(world.adminKey, own)
    expect((await seen(id, world.adminKey)).who_decides?.who).not.toContain('nobody else')
    await patch(`/users/${people.root.id}`, { role: 'member' })
    const { who_decides, digest } = await seen(id, world.adminKey)
    expect(who_decides).toMatchObject({ may_decide: false, started_by: [me] })
    expect(who_decides?.who).toMatch(/There is nobody else at the moment: .* it expires at 20/)
    expect((await decide(id, 'approve', world.adminKey, digest)).status).toBe(403)
    dataOf(await never({ never_by_starter: false }))
    const again = await never({ never_by_starter: true })
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('Nobody but you')])
    expect((await decide(id, 'approve', world.adminKey, digest)).status).toBe(200)
    await patch(`/users/${people.root.id}`, { role: 'admin' })
  })
})
