import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import { decisionKey } from '../../../lib/call/decision.ts'
import { callKey, EVENT_GRACE_MS, getCall, moveChange } from '../../../lib/call/tool-call.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { MAX_INLINE_BYTES } from '../../../lib/data/large.ts'
import { transact } from '../../../lib/data/transact.ts'
import { makeBundles } from '../../../lib/deploy/make-bundles.ts'
import type { FunctionSpec } from '../../../lib/http/route-table.ts'
import { sendDue } from '../../../lib/notification/send-due.ts'
import { listParts } from '../../../lib/task/remains.ts'
import { getTask } from '../../../lib/task/task.ts'
import { DEFAULT_MAX_RESULT_CHARS } from '../../../lib/tool/define.ts'
import { deleteTask } from '../../../lib/workflow/delete-task.ts'
import { finishDeletions } from '../../../lib/workflow/finish-deletions.ts'
import { sweep } from '../../../lib/workflow/sweep.ts'
import { loadFunction } from '../../../scripts/load-function.ts'
import { createBrowser } from '../../browser.ts'
import { playMainJob } from '../../main-job.ts'
import { startProvider } from '../../oidc.ts'
import { startTestStack } from '../../stack.ts'
import { startReceiver } from '../notification/subscribed.ts'
import { actAs, guardClients } from './guard.ts'

let specs: Map<string, FunctionSpec>
let stack: Awaited<ReturnType<typeof startTestStack>>
let guard: ReturnType<typeof guardClients>

const specOf = (name: string): FunctionSpec => {
  const spec = specs.get(name)
  if (!spec) throw new Error(`There is no function ${name}.`)
  return spec
}

beforeAll(async () => {
  const table = await routeTable()
  specs = new Map(table.functions.map(spec => [spec.name, spec]))
  stack = await startTestStack({
    // Each function is loaded by its own name, and so runs under its own role.
    table: { ...table, functions: table.functions.map(spec => ({ ...spec, module: spec.name })) },
    load: async name => {
      const { handler } = await loadFunction(specOf(name).module)
      const acting = (...given: Parameters<typeof handler>) =>
        actAs(specOf(name), () => handler(...given))
      return { handler: acting }
    },
  })
  const directory = await mkdtemp(path.join(tmpdir(), 'roles-'))
  guard = guardClients(await makeBundles(table, directory))
  await rm(directory, { recursive: true })
})
afterEach(() => expect(guard.refused.splice(0)).toEqual([]))
afterAll(() => stack.stop())

const request = async (method: string, path: string, body?: unknown, agentId?: string) => {
  const answer = await stack.request(method, path, {
    body,
    headers: {
      ...(method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {}),
      'if-match': '*',
      ...(agentId ? { 'espalier-agent': agentId } : {}),
    },
  })
  expect(`${method} ${path}: ${answer.status}`).toMatch(/: (20[012]|302)$/)
  return answer.body.data as Record<string, string>
}

/** An agent with these tools, for the model that makes exactly the calls of its prompt. */
const makeAgent = async (...tools: string[]): Promise<string> => {
  const { id = '' } = await request('POST', '/api/v1/agents', {
    name: 'Tester',
    model: { provider: 'rehearsal', name: 'script' },
  })
  for (const tool of tools) await request('POST', `/api/v1/agents/${id}/tools/${tool}/enable`)
  return id
}

const until = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(50)) {
    const seen = await look()
    if (seen !== undefined) return seen
  }
  throw new Error('It did not happen in time.')
}

const taskWith = (id: string, status: string) =>
  until(async () => {
    const task = await request('GET', `/api/v1/tasks/${id}`)
    return task.status === status ? task : undefined
  })

describe('the functions, each under its own role,', () => {
  it('do the main job from its first request to its last', async () => {
    expect((await playMainJob(stack)).status).toBe('COMPLETED')
    expect(guard.asked()).toBeGreaterThan(100)
  })

  it('answer what an admin asks beside it', async () => {
    const { principal_id: principal } = await request('GET', '/api/v1/principals/me')
    const agent = await makeAgent('time')
    await request('PATCH', `/api/v1/agents/${agent}/tools/time/operations/now`, { enabled: true })
    await request('DELETE', `/api/v1/agents/${agent}/tools/time/enable`)
    const { id: key } = await request('POST', `/api/v1/agents/${agent}/keys`, { name: 'A key' })
    await request('DELETE', `/api/v1/keys/${key}`)
    await request('PUT', '/api/v1/tools/time/settings', { timezone: 'Europe/Rome' })
    for (const path of [
      '/agents',
      `/agents/${agent}`,
      '/tools',
      '/tools/time',
      '/openapi.json',
      '/tools/time/settings',
      `/principals/${principal}/tools/time/settings`,
      `/agents/${agent}/tools/time/settings`,
      '/tasks',
      '/approvals',
      '/media',
    ])
      await request('GET', `/api/v1${path}`)
    for (const path of ['/docs', '/docs/start.js', '/docs/swagger-ui.css'])
      await request('GET', path)
  })

  it('change, export, give away and delete agents, and govern the models that they name', async () => {
    const { id: group } = await request('POST', '/api/v1/groups', { name: 'Pickers' })
    const { id: configuration } = await request('POST', '/api/v1/llm-configurations', {
      name: 'Ours',
      provider: 'rehearsal',
      model: 'script',
      api_key: 'a-key-of-ours',
      owner: group,
    })
    const agent = await makeAgent('time')
    const ofAgent = `/api/v1/agents/${agent}`
    await request('PATCH', ofAgent, { max_tokens: 1_000 })
    await request('PATCH', `${ofAgent}/tools`, { enabled: true, category: 'general' })
    await request('POST', `${ofAgent}/transfer`, { principal_id: group })
    await request('PATCH', ofAgent, { llm_configuration_id: configuration })
    const { id: task = '' } = await request('POST', '/api/v1/tasks', {
      agent_id: agent,
      prompt: 'Hello',
    })
    await taskWith(task, 'COMPLETED')
    await request('GET', `/api/v1/tasks/${task}/stream`)
    const ofConfiguration = `/api/v1/llm-configurations/${configuration}`
    await request('PATCH', ofConfiguration, { api_key: 'another-key' })
    await request('POST', `${ofConfiguration}/test`)
    for (const path of ['', '/agents']) await request('GET', ofConfiguration + path)
    await request('GET', `/api/v1/llm-configurations?owner=${group}`)
    const template = await request('GET', `${ofAgent}/export?include_settings=1`)
    const copy = {
      ...template,
      agent: { name: 'Copy', model: { provider: 'rehearsal', name: 'script' } },
    }
    await request('POST', `/api/v1/agent-templates/import?principal_id=${group}`, copy)
    const { id: own } = await request('POST', '/api/v1/llm-configurations', {
      name: 'Its own',
      provider: 'rehearsal',
      model: 'script',
      owner: agent,
    })
    await request('POST', '/api/v1/tasks', { agent_id: agent, prompt: 'Hello again' })
    await request('POST', `${ofAgent}/keys`, { name: 'A key' })
    await request('DELETE', ofAgent)
    await request('DELETE', ofConfiguration)
    const gone = await stack.request('GET', `/api/v1/llm-configurations/${own}`)
    expect(gone.status).toBe(404)
  })

  it('keep users, groups, members and keys', async () => {
    const { id: user } = await request('POST', '/api/v1/users', { name: 'Ada' })
    for (const change of [{ role: 'admin' }, { role: 'member', disabled: true }, { name: 'Eva' }])
      await request('PATCH', `/api/v1/users/${user}`, change)
    await request('PATCH', `/api/v1/users/${user}`, { disabled: false })
    const { id: key } = await request('POST', '/api/v1/keys', { name: 'Laptop', user_id: user })
    const { id: group } = await request('POST', '/api/v1/groups', { name: 'Gardeners' })
    await request('PATCH', `/api/v1/groups/${group}`, { name: 'Growers' })
    const member = `/api/v1/groups/${group}/members/${user}`
    await request('POST', `/api/v1/groups/${group}/members`, { user_id: user, role: 'owner' })
    await request('PATCH', member, { role: 'member' })
    const { id: agent } = await request('POST', '/api/v1/agents', {
      name: 'Tester',
      model: { provider: 'rehearsal', name: 'script' },
      principal_id: group,
    })
    for (const path of [
      '/users',
      `/users/${user}`,
      '/groups',
      '/groups?all=true',
      `/groups/${group}`,
      `/groups/${group}/members`,
      '/principals/me',
      '/keys',
      `/keys?principal_id=${user}`,
      `/agents/${agent}/keys`,
      ...['agents', 'tasks', 'approvals', 'media'].map(list => `/${list}?principal_id=${group}`),
    ])
      await request('GET', `/api/v1${path}`)
    await request('DELETE', `/api/v1/keys/${key}`)
    await request('DELETE', member)
    const { id: spare } = await request('POST', '/api/v1/groups', { name: 'Others' })
    await request('DELETE', `/api/v1/groups/${spare}`)
  })

  it('keep when an agent’s key was used, as the operation that it runs', async () => {
    const agent = await makeAgent('time')
    const { key } = await request('POST', `/api/v1/agents/${agent}/keys`, { name: 'A key' })
    const path = '/api/v1/tools/time/operations/now'
    expect((await stack.request('POST', path, { body: {}, key: key ?? null })).status).toBe(200)
    const answer = await stack.request('GET', `/api/v1/agents/${agent}/keys`)
    expect(answer.body.data).toMatchObject([{ last_used_at: expect.any(String) }])
  })

  it('let people in: by a claim, by an invitation, by a provider, and out again', async () => {
    const secret = randomBytes(32).toString('hex')
    vi.stubEnv('ESPALIER_CLAIM_SECRET', secret)
    vi.stubEnv('ESPALIER_RATE_LIMITS', 'key=1000, address=1000')
    await request('POST', '/api/v1/claim', { secret })
    expect((await stack.request('POST', '/api/v1/claim', { body: { secret } })).status).toBe(409)
    const { id: group } = await request('POST', '/api/v1/groups', { name: 'A group' })
    const into = { role: 'admin', group_id: group, group_role: 'owner' }
    const accepted = await request('POST', '/api/v1/invitations', into)
    await request('POST', '/api/v1/invitations/accept', { token: accepted.token, name: 'Ada' })
    const revoked = await request('POST', '/api/v1/invitations', {})
    await request('DELETE', `/api/v1/invitations/${revoked.id}`)
    await request('GET', `/api/v1/invitations?group_id=${group}`)

    const provider = await startProvider(`${stack.url}/sign-in/callback`)
    vi.stubEnv('ESPALIER_OIDC_ISSUER', provider.issuer)
    vi.stubEnv('ESPALIER_OIDC_CLIENT_ID', provider.clientId)
    vi.stubEnv('ESPALIER_OIDC_CLIENT_SECRET', provider.clientSecret)
    provider.be({ sub: 'ada' })
    const browser = createBrowser()
    const current = `${stack.url}/api/v1/sessions/current`
    const visit = (query: string) =>
      browser.follow(`${stack.url}/sign-in?return_to=/api/v1/sessions/current${query}`)
    for (const invitation of [{}, into]) {
      const { token } = await request('POST', '/api/v1/invitations', invitation)
      expect((await visit(`&invitation=${token}`)).last?.status).toBe(200)
    }
    expect((await visit('')).last?.status).toBe(200)
    const { data } = await browser.ask(current)
    await request('GET', `/api/v1/sessions?user_id=${data.user_id}`)
    await request('DELETE', `/api/v1/sessions?user_id=${data.user_id}`)
    expect((await browser.ask(current)).status).toBe(401)
    await provider.close()
    vi.unstubAllEnvs()
  })

  it('keep and read what is too long for a row', async () => {
    const agent = await makeAgent('media')
    const content = 'long '.repeat(DEFAULT_MAX_RESULT_CHARS / 4)
    expect(content.length).toBeGreaterThan(MAX_INLINE_BYTES)
    const operations = '/api/v1/tools/media/operations'
    const call = await request(
      'POST',
      `${operations}/create_media`,
      { filename: 'long', content },
      agent,
    )
    const { media_id } = JSON.parse(call.content ?? '') as Record<string, string>
    const read = await request('POST', `${operations}/get_source`, { media_id }, agent)
    expect(read.content).toContain('"truncated":true')
    for (const path of [`/media/${media_id}`, `/assets/${media_id}`, `/tool-calls/${call.call_id}`])
      await request('GET', `/api/v1${path}`)
    await request('POST', `${operations}/search`, {}, agent)
    await request('POST', `${operations}/get_media`, { media_id }, agent)
    await request('POST', `/api/v1/media/${media_id}/public-link`)
    await request('DELETE', `/api/v1/media/${media_id}/public-link`)
    const gated = await request('POST', `${operations}/get_public_url`, { media_id }, agent)
    await request('POST', `/api/v1/tool-calls/${gated.call_id}/approve`, { digest: gated.digest })
    await until(async () => {
      const { status } = await request('GET', `/api/v1/tool-calls/${gated.call_id}`)
      return status === 'COMPLETED' ? status : undefined
    })
  })

  it('run sub-agents in slots, beside their task, look at them, wait for them and cancel them', async () => {
    const [writer, planner] = [await makeAgent('sub_agent', 'time'), await makeAgent('subagents')]
    const settings = { allowed_target_agents: [writer] }
    await request('PUT', `/api/v1/agents/${writer}/tools/sub_agent/settings`, {
      allowed_target_agents: [planner],
    })
    await request('PUT', `/api/v1/agents/${planner}/tools/subagents/settings`, {
      ...settings,
      max_concurrent: 1,
    })
    for (const operation of ['spawn_subagent', 'spawn_subagents'])
      await request('PATCH', `/api/v1/agents/${planner}/tools/subagents/operations/${operation}`, {
        requires_approval: false,
      })
    const use = (operation: string, values: object) =>
      `/subagents ${operation} ${JSON.stringify(values)}`
    const asked = (prompt: string) => ({ target_agent_id: writer, prompt })
    // It waits for an approval, so that there is something to cancel.
    const gated = `/sub_agent handover ${JSON.stringify({ target_agent_id: planner, prompt: 'x' })}`
    const { id: task = '' } = await request('POST', '/api/v1/tasks', {
      agent_id: planner,
      prompt: [
        use('spawn_subagents', { subagents: [asked('a'), asked('b'), asked('c')], wait: true }),
        use('spawn_subagent', asked(gated)),
        use('spawn_subagent', { ...asked('d'), attention: false }),
        use('spawn_subagent', asked('e')),
        use('subagent_status', { task_id: '{{2.task_ids.0}}' }),
        use('subagent_result', { task_id: '{{4.task_ids.0}}', wait: true }),
        use('subagent_list', {}),
        use('subagent_cancel', { task_id: '{{2.task_ids.0}}' }),
      ].join('\n\n'),
    })
    await taskWith(task, 'COMPLETED')
    const { tool_calls } = (await request('GET', `/api/v1/tasks/${task}`)) as unknown as {
      tool_calls: { status: string; result: { content: string } }[]
    }
    expect(tool_calls.map(({ status }) => status)).toEqual(Array(8).fill('COMPLETED'))
    expect(JSON.parse(tool_calls[7]?.result.content ?? '')).toMatchObject({ status: 'CANCELLED' })
  })

  it('spawn with a long prompt, reject, cancel and sweep', async () => {
    const [writer, planner] = [await makeAgent('time'), await makeAgent('sub_agent')]
    await request('PUT', `/api/v1/agents/${planner}/tools/sub_agent/settings`, {
      allowed_target_agents: [writer],
    })
    const prompt = JSON.stringify({ target_agent_id: writer, prompt: 'a'.repeat(MAX_INLINE_BYTES) })
    const [spawning, rejected, cancelled] = await Promise.all(
      ['sub_agent', 'handover', 'sub_agent'].map(operation =>
        request('POST', '/api/v1/tasks', {
          agent_id: planner,
          prompt: `/sub_agent ${operation} ${prompt}`,
        }),
      ),
    )
    for (const task of [spawning, rejected, cancelled])
      await taskWith(task?.id ?? '', 'PENDING_APPROVAL')
    expect(await actAs(specOf('sweep'), () => sweep({}, inTwoDays))).toEqual({ looked: 3 })
    await request('POST', `/api/v1/tasks/${cancelled?.id}/cancel`)
    await decide(spawning?.id, 'approve')
    await decide(rejected?.id, 'reject')
    await taskWith(spawning?.id ?? '', 'COMPLETED')
    await taskWith(rejected?.id ?? '', 'COMPLETED')
    await request('GET', `/api/v1/tasks/${spawning?.id}/history`)
    // A request removes what it finds, or the sweeper goes on with it.
    for (const task of [spawning, rejected]) await request('DELETE', `/api/v1/tasks/${task?.id}`)
    await deleteTask(await getTask(cancelled?.id as Id<'task'>), { by: 'a person' })
    await actAs(specOf('sweep'), () => finishDeletions(inTwoDays))
    await actAs(specOf('sweep'), () => finishDeletions(inFourDays))
    for (const task of [spawning, rejected, cancelled])
      expect(await listParts(task?.id as Id<'task'>)).toEqual([])
  })

  it('have an approved call run whose event was lost', async () => {
    const agent = await makeAgent('media')
    const run = '/api/v1/tools/media/operations/'
    const made = await request('POST', `${run}create_media`, { filename: 'a', content: 'a' }, agent)
    const { media_id } = JSON.parse(made.content ?? '') as Record<string, string>
    const gated = await request('POST', `${run}get_public_url`, { media_id }, agent)
    const id = gated.call_id as Id<'call'>
    const call = await getCall(id)
    if (!call) throw new Error('There is no call.')
    const decision = { callId: id, digest: call.digest ?? '', by: 'a person', at: call.createdAt }
    await transact([
      { put: { ...decision, decision: 'approve' }, key: decisionKey(id, decision.digest) },
      {
        key: callKey(id),
        update: moveChange(call, 'APPROVED', { decidedAt: new Date(0).toISOString() }),
      },
    ])
    // In time to be run, and not yet given up.
    const clock = { now: () => new Date(EVENT_GRACE_MS + 1) }
    expect(await actAs(specOf('sweep'), () => sweep({}, clock))).toEqual({ looked: 1 })
    await until(async () => ((await getCall(id))?.status === 'COMPLETED' ? true : undefined))
  })

  it('subscribe, and tell of what waits and what has ended, at once or by the sweeper', async () => {
    const receiver = await startReceiver()
    vi.stubEnv('ESPALIER_FETCH_ALLOW', receiver.host)
    const path = '/api/v1/subscriptions'
    const { id } = await request('POST', path, { name: 'Ours', url: receiver.url })
    await request('PATCH', `${path}/${id}`, { name: 'All of ours' })
    await request('POST', `${path}/${id}/rotate-secret`)
    await request('POST', `${path}/${id}/test`)
    const agent = await makeAgent('media')
    const made = await request('POST', '/api/v1/tasks', { agent_id: agent, prompt: 'Hello' })
    await taskWith(made.id ?? '', 'COMPLETED')
    const run = '/api/v1/tools/media/operations'
    const file = { filename: 'a', content: 'A' }
    const { content } = await request('POST', `${run}/create_media`, file, agent)
    const { media_id } = JSON.parse(content ?? '') as Record<string, string>
    await request('POST', `${run}/get_public_url`, { media_id }, agent)
    await actAs(specOf('sweep'), () => sendDue())
    const events = () => receiver.received.map(({ body }) => JSON.parse(body).type).toSorted()
    const wanted = ['call.waiting', 'subscription.test', 'task.ended']
    await until(async () => (events().length >= wanted.length ? true : undefined))
    expect(events()).toEqual(wanted)
    // The receiver wants nothing more: whoever posts to it disables it.
    receiver.answer(() => ({ status: 410 }))
    await request('POST', `${path}/${id}/test`)
    await until(async () =>
      (await stack.request('GET', `${path}/${id}`)).text.includes('"gone"') ? true : undefined,
    )
    for (const each of ['', `/${id}`, `/${id}/deliveries`]) await request('GET', path + each)
    await request('DELETE', `${path}/${id}`)
    await receiver.close()
    vi.unstubAllEnvs()
  })

  it('are refused what their role leaves out', async () => {
    const reading = actAs(specOf('tool-time-now'), () => getTask(newId('task')))
    await expect(reading).rejects.toThrow('AccessDenied')
    expect(guard.refused.splice(0)).toHaveLength(1)
  })
})

/** By then every wait has been looked after for too long. */
const inTwoDays = { now: () => new Date(Date.now() + 2 * 86_400_000) }
const inFourDays = { now: () => new Date(Date.now() + 4 * 86_400_000) }

const decide = async (taskId: string | undefined, how: 'approve' | 'reject') => {
  const { body } = await stack.request('GET', '/api/v1/approvals')
  const calls = body.data as { id: string; task_id: string; digest: string }[]
  const call = calls.find(candidate => candidate.task_id === taskId)
  await request('POST', `/api/v1/tool-calls/${call?.id}/${how}`, { digest: call?.digest })
}
