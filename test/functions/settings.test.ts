import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { dynamodb } from '../../lib/aws/dynamodb.ts'
import { type Id, newId } from '../../lib/core/ids.ts'
import { currentUsage } from '../../lib/data/usage.ts'
import type { SettingsView } from '../../lib/http/present-settings.ts'
import * as groups from '../../lib/principal/group.ts'
import { addMember } from '../../lib/principal/member.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, type Person } from '../world.ts'

const mail = defineTool({
  name: 'mail',
  description: 'Sends mail.',
  settings: {
    sender: setting.text({ label: 'Sender', description: 'From whom.', default: 'nobody' }),
    token: setting.password({ label: 'Token', required: true }),
    format: setting.select({ label: 'Format', options: ['html', 'text'], exposeToLlm: true }),
    quota: setting.number({ label: 'Quota', scope: 'principal' }),
    helpers: setting.multiSelect({
      label: 'Helpers',
      scope: 'agent',
      resolveAs: 'agent',
      exposeToLlm: true,
      enumFor: 'helper',
    }),
  },
  operations: {
    send: {
      description: 'Send a mail.',
      parameters: z.object({ helper: z.string().optional().describe('Who helps.') }),
      effect: 'read',
      describe: () => 'Send',
      execute: ({ parameters }) => `sent with ${parameters.helper ?? 'nobody'}`,
    },
  },
})

useWorld([mail])

let owner: Person
let group: Id<'group'>
let agent: Id<'agent'>

beforeAll(async () => {
  owner = await world.createPerson(['decide'])
  group = newId('group')
  await groups.createGroup({ id: group, name: 'Gardeners' }, { ownerId: owner.id })
  agent = await world.createAgent(['mail'], { key: owner.key })
})

const INSTANCE = '/api/v1/tools/mail/settings'
const ofPrincipal = (id: string) => `/api/v1/principals/${id}/tools/mail/settings`
const ofAgent = (id: string = agent) => `/api/v1/agents/${id}/tools/mail/settings`

const ask = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  world.request(method, path, {
    ...(path.startsWith(INSTANCE) ? {} : { key: owner.key }),
    ...(body ? { body } : {}),
    ...(headers ? { headers } : {}),
  })
const read = async (path: string) => dataOf<SettingsView>(await ask('GET', path))
const change = async (method: string, path: string, body?: object) =>
  dataOf<SettingsView>(await ask(method, path, body))

describe('settings at every layer', () => {
  it('tell each value with its source, who set it and when', async () => {
    await change('PUT', INSTANCE, { sender: 'instance', format: 'html' })
    await change('PUT', ofPrincipal(owner.id), { sender: 'owner', token: 'a-secret-of-mine' })
    const view = await change('PUT', ofAgent(), { format: 'text' })
    expect(view).toMatchObject({ tool: 'mail', layer: 'agent', version: 1 })
    expect(view.settings).toMatchObject({
      sender: { value: 'owner', source: 'principal', updated_by: owner.id },
      token: { value: '***', source: 'principal' },
      format: { value: 'text', source: 'agent', updated_at: expect.stringMatching(/Z$/) },
      quota: { value: null, source: null, updated_by: null, updated_at: null },
    })
    expect((await read(INSTANCE)).settings.sender).toMatchObject({ value: 'instance' })
    expect((await read(ofPrincipal(group))).settings.sender).toMatchObject({ source: 'global' })
  })

  it('raw are those of the layer itself alone', async () => {
    const raw = async (path: string) => Object.keys((await read(`${path}?raw=true`)).settings)
    expect(await raw(INSTANCE)).toEqual(['sender', 'format'])
    expect(await raw(ofPrincipal(owner.id))).toEqual(['sender', 'token'])
    expect(await raw(ofAgent())).toEqual(['format'])
    expect(await raw(ofPrincipal(group))).toEqual([])
    expect((await ask('GET', `${ofAgent()}?raw=maybe`)).body.error?.code).toBe('BAD_REQUEST')
  })

  it('are removed one by one, or all of a layer, and the layer below holds again', async () => {
    await change('PUT', ofAgent(), { sender: 'agent', format: 'html', quota: 3 })
    const one = await change('DELETE', `${ofAgent()}/sender`)
    expect(one.settings).toMatchObject({ sender: { source: 'principal' }, quota: { value: 3 } })
    const all = await change('DELETE', ofAgent())
    expect(all.settings).toMatchObject({ format: { source: 'global' }, quota: { value: null } })
    expect((await ask('DELETE', `${ofAgent()}/colour`)).body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('which has: sender, token, format, quota, helpers'),
    })
    expect((await ask('DELETE', `${ofAgent()}/sender`)).status).toBe(200)
  })

  it('of a group are its keepers’ to change, and each member’s to read', async () => {
    const member = await world.createPerson()
    await addMember({ groupId: group, userId: member.id, role: 'member', by: owner.id })
    const as = { key: member.key }
    expect((await world.request('GET', ofPrincipal(group), as)).status).toBe(200)
    for (const [method, path] of [
      ['PUT', ofPrincipal(group)],
      ['DELETE', `${ofPrincipal(group)}/sender`],
      ['DELETE', ofPrincipal(group)],
    ] as const) {
      const body = method === 'PUT' ? { body: { sender: 'member' } } : {}
      expect((await world.request(method, path, { ...as, ...body })).status).toBe(403)
    }
  })
})

describe('the listing', () => {
  it('says of each key what it is, where it may be set, and what the tool lacks', async () => {
    const bare = await world.createAgent([], {})
    const { settings, ...view } = dataOf<SettingsView>(await world.request('GET', ofAgent(bare)))
    expect(view).toMatchObject({ missing_required: ['token'], ready_to_enable: false, version: 0 })
    expect(Object.keys(settings)).toEqual(Object.keys(mail.settings))
    expect(settings.sender).toMatchObject({
      key: 'sender',
      type: 'text',
      label: 'Sender',
      description: 'From whom.',
      default: 'nobody',
      required: false,
      scope: 'any',
      layers: ['global', 'principal', 'agent'],
      expose_to_llm: false,
      resolve_as: 'raw',
      names: null,
    })
    expect(settings).toMatchObject({
      token: { type: 'password', required: true, default: null },
      format: { type: 'select', options: ['html', 'text'], expose_to_llm: true },
      quota: { type: 'number', layers: ['principal', 'agent'] },
      helpers: { layers: ['agent'], resolve_as: 'agent', enum_for: 'helper', names: [] },
    })
    const ready = await change('PUT', ofAgent(), { token: 'a-secret-of-mine' })
    expect(ready).toMatchObject({ missing_required: [], ready_to_enable: true })
  })
})

describe('two operators at once', () => {
  it('are told by the ETag that the other was first', async () => {
    const { headers } = await ask('GET', ofAgent())
    const etag = headers.get('etag') ?? ''
    const first = await ask('PUT', ofAgent(), { sender: 'first' }, { 'if-match': etag })
    expect(first.status).toBe(200)
    expect(first.headers.get('etag')).not.toBe(etag)
    for (const [method, path, body] of [
      ['PUT', ofAgent(), { sender: 'second' }],
      ['DELETE', `${ofAgent()}/sender`, undefined],
      ['DELETE', ofAgent(), undefined],
    ] as const) {
      const second = await ask(method, path, body, { 'if-match': etag })
      expect(second).toMatchObject({ status: 412, body: { error: { code: 'VERSION_MISMATCH' } } })
    }
    expect((await read(ofAgent())).settings.sender).toMatchObject({ value: 'first' })
  })

  it('who name no version leave both changes in the log', async () => {
    const path = ofPrincipal(group)
    await Promise.all(['x', 'y'].map(sender => change('PUT', path, { sender })))
    const answer = await ask('GET', `/api/v1/audit?principal_id=${group}`)
    const entries = dataOf<{ from?: string; to: string; target: string; by: string }[]>(answer)
    expect(entries.map(({ to }) => to).sort()).toEqual(['x', 'y'])
    expect(entries[0]).toMatchObject({ from: entries[1]?.to, target: group, by: owner.id })
  })
})

describe('what is refused', () => {
  it('is named all at once, and nothing is saved', async () => {
    const body = { sender: 'fine', token: 'abc', format: 'pdf', quota: 'many', helpers: ['Ada'] }
    const { status, body: answer } = await ask('PUT', ofAgent(), { ...body, colour: 'red' })
    expect(status).toBe(422)
    expect(answer.error?.details).toMatchObject(
      ['token', 'format', 'quota', 'helpers', 'colour'].map(field => ({ field })),
    )
    expect((await read(ofAgent())).settings.sender?.value).not.toBe('fine')
    const misplaced = await ask('PUT', INSTANCE, { quota: 1, helpers: [] })
    expect(misplaced.body.error?.message).toMatch(/"quota": has no place.*"helpers": has no place/)
  })
})

describe('a body that is no JSON', () => {
  it.each([
    '{"token": s3cr3t}',
    '{"token": "s3cr3t',
    "{'token': 's3cr3t'}",
    '{"token": "x"} s3cr3t',
  ])('is refused without a word of what is in it: %s', async body => {
    const answer = await world.request('PUT', ofAgent(), { body, key: owner.key })
    expect(answer.body.error).toMatchObject({
      code: 'INVALID_JSON',
      message: expect.stringContaining('not valid JSON'),
    })
    expect(answer.text).not.toMatch(/s3|cr3t/)
  })

  it('is refused where it is larger than a request may be', async () => {
    const body = { sender: 'x'.repeat(7 * 1024 * 1024) }
    const answer = await world.request('PUT', ofAgent(), { body, key: owner.key })
    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'PAYLOAD_TOO_LARGE' } } })
  })
})

describe('a setting that names agents', () => {
  let ada: Id<'agent'>
  let foreign: Id<'agent'>
  beforeAll(async () => {
    ada = await world.createAgent([], { key: owner.key, name: 'Ada' })
    foreign = await world.createAgent([], { name: 'Foreign agent' })
    await change('PUT', ofAgent(), { token: 'a-secret-of-mine', helpers: [ada] })
  })

  it('shows their names beside the ids', async () => {
    const { settings } = await read(ofAgent())
    expect(settings.helpers).toMatchObject({ value: [ada], names: [{ id: ada, name: 'Ada' }] })
  })

  it('takes none of another owner, and none that is not there', async () => {
    const gone = newId('agent')
    const answer = await ask('PUT', ofAgent(), { helpers: [ada, foreign, gone] })
    expect(answer.body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(`${foreign}, ${gone}`),
    })
    expect(answer.text).not.toContain('Foreign agent')
    expect((await read(ofAgent())).settings.helpers?.value).toEqual([ada])
  })

  it('shows one that is foreign by now as #id, and lets nobody see its name', async () => {
    const { update } = await import('../../lib/data/table.ts')
    const { layerKey } = await import('../../lib/settings/layer.ts')
    const entry = { value: [ada, foreign], updatedAt: new Date(0).toISOString(), updatedBy: 'x' }
    await update(z.unknown(), layerKey('mail', agent), { set: { entry_helpers: entry } })
    const { settings } = await read(ofAgent())
    expect(settings.helpers?.names).toEqual([
      { id: ada, name: 'Ada' },
      { id: foreign, name: `#${foreign}` },
    ])
  })

  it('limits the parameter that it is for, for calls as for models', async () => {
    const { readCatalogue } = await import('../../lib/workflow/offer.ts')
    const { getAgent } = await import('../../lib/agent/agent.ts')
    const { tools } = await import('../../functions/tools/index.ts')
    const catalogue = await readCatalogue(await getAgent(agent), tools, { provider: 'rehearsal' })
    const { description, inputSchema } = [...catalogue.values()][0]?.whole.forModel ?? {}
    expect(description).toContain(`- Helpers: Ada (${ada}), #${foreign}`)
    expect(inputSchema).toMatchObject({
      properties: {
        helper: {
          enum: [ada, foreign],
          description: expect.stringContaining(`From "Helpers": Ada (${ada}), #${foreign}.`),
        },
      },
    })
    const run = (helper: string) => world.run(agent, 'mail.send', { helper }, { key: owner.key })
    expect((await run(ada)).body.data).toMatchObject({ content: `sent with ${ada}` })
    expect((await run(newId('agent'))).body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('must be of those under "Helpers"'),
    })
  })
})

describe('reads of settings', () => {
  const requestsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = currentUsage().requests
    await work()
    return currentUsage().requests - before
  }

  it('for a listing are one batch for who asks, one for the agent, one for all layers', async () => {
    const plain = await world.createAgent([], { key: owner.key })
    expect(await requestsOf(() => read(ofAgent(plain)))).toBeLessThanOrEqual(3)
  })

  it('for a call are one batch, and two where the agent has moved', async () => {
    const reads = countReads()
    await world.run(agent, 'mail.send', {}, { key: owner.key })
    expect(reads.take()).toBe(1)
    const moved = await world.createAgent(['mail'], { key: owner.key })
    const { key } = await world.createAgentKey(moved)
    await change('PUT', ofPrincipal(group), { token: 'a-secret-of-ours' })
    reads.take()
    expect((await world.run(undefined, 'mail.send', {}, { key })).status).toBe(200)
    expect(reads.take()).toBe(1)
    const { agentKey } = await import('../../lib/agent/agent.ts')
    const { update } = await import('../../lib/data/table.ts')
    await update(z.unknown(), agentKey(moved), { set: { principalId: group } })
    await world.run(undefined, 'mail.send', {}, { key })
    expect(reads.take()).toBe(2)
    // What the user is to the group that the agent is of now comes with the second.
    expect((await world.run(moved, 'mail.send', {}, { key: owner.key })).status).toBe(200)
    expect(reads.take()).toBe(2)
    reads.remove()
  })
})

/** Counts the reads of the table that were sent since they were last taken. */
const countReads = () => {
  let count = 0
  dynamodb().middlewareStack.add(
    (next, context) => args => {
      if (/^(BatchGetItem|GetItem|Query)Command$/.test(context.commandName ?? '')) count += 1
      return next(args)
    },
    { step: 'initialize', name: 'count-reads' },
  )
  return {
    take: () => {
      const taken = count
      count = 0
      return taken
    },
    remove: () => dynamodb().middlewareStack.remove('count-reads'),
  }
}
