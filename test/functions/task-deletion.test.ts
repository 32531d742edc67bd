import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { deletion } from '../../functions/admin/tasks/delete.ts'
import { tools } from '../../functions/tools/index.ts'
import { derivedId, type Id } from '../../lib/core/ids.ts'
import { MAX_INLINE_BYTES } from '../../lib/data/large.ts'
import { appOf } from '../../lib/http/app.ts'
import { append } from '../../lib/task/history.ts'
import { listParts } from '../../lib/task/remains.ts'
import { DEFAULT_MAX_RESULT_CHARS, defineTool } from '../../lib/tool/define.ts'
import { LATE_MS } from '../../lib/workflow/clear-tree.ts'
import { finishDeletions } from '../../lib/workflow/finish-deletions.ts'
import { spawnedId } from '../../lib/workflow/spawn.ts'
import { tick } from '../../lib/workflow/tick.ts'
import { ask } from '../probe.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, snapshot, until } from '../world.ts'

const long = 'long '.repeat(DEFAULT_MAX_RESULT_CHARS / 4)

const gates = new Map<string, (value: string) => void>()
const probe = defineTool({
  name: 'probe',
  description: 'Waits, asks, and says a lot.',
  operations: {
    hold: {
      description: 'Wait for the test.',
      parameters: z.object({ name: z.string() }),
      effect: 'idempotent',
      describe: () => 'Wait',
      execute: ({ parameters: { name } }) => new Promise(resolve => gates.set(name, resolve)),
    },
    tell: {
      description: 'Say a lot.',
      parameters: z.object({ text: z.string() }),
      effect: 'read',
      describe: () => 'Tell',
      execute: async () => long,
    },
    ask,
  },
})

useWorld([probe])

let boss: Id<'agent'>
let helper: Id<'agent'>
beforeAll(async () => {
  const enabled = ['probe', 'media', 'sub_agent', 'subagents']
  helper = await world.createAgent(enabled, { name: 'Helper' })
  boss = await world.createAgent(enabled, { name: 'Boss' })
  for (const [agent, target] of [
    [boss, helper],
    [helper, boss],
  ])
    for (const tool of ['sub_agent', 'subagents']) {
      await world.setSettings(agent ?? '', tool, { allowed_target_agents: [target] })
      const operations = {
        sub_agent: ['sub_agent', 'handover'],
        subagents: ['spawn_subagent', 'spawn_subagents'],
      }[tool]
      for (const operation of operations ?? [])
        await world.override(agent ?? '', `${tool}.${operation}`, { requires_approval: false })
    }
})

const line = (words: string, values: object) => `/${words} ${JSON.stringify(values)}`
const hold = (name: string) => line('probe hold', { name })
const work = (...steps: string[]) => ({ prompt: steps.join('\n\n') })
const to = (agent: Id<'agent'>, ...steps: string[]) => ({
  target_agent_id: agent,
  ...work(...steps),
})
const DETACHED = { wait: false, attention: false }

const remove = (id: string, key?: string | null) =>
  world.request('DELETE', `/api/v1/tasks/${id}`, key === undefined ? {} : { key })
const statusOf = async (id: string) => (await world.request('GET', `/api/v1/tasks/${id}`)).status

/** What has come since, but for what is meant to stay: the files of the owner, the log, the rest. */
const leftSince = async (before: Record<string, unknown>): Promise<string[]> =>
  Object.keys(await snapshot()).filter(
    key => !(key in before) && !/^(audit#|media_|object media\/|rate#)/.test(key),
  )
const later = { now: () => new Date(Date.now() + 2 * LATE_MS) }
/** Only that its id was taken. */
const onlyId = (id: string) => [`${id} / remains`]

describe('a deleted task', () => {
  it('takes its whole tree along, and leaves the files that were made, the log, and its id', async () => {
    const before = await snapshot()
    const text = 'a'.repeat(MAX_INLINE_BYTES)
    const grandchild = line('subagents spawn_subagent', { ...to(boss, hold('g')), ...DETACHED })
    const several = [
      to(helper, line('media create_media', { filename: 'a.md', content: '# A' })),
      to(helper, line('probe ask', {})),
      to(helper, grandchild),
    ]
    const id = await world.createTask(
      boss,
      line('sub_agent sub_agent', to(helper, line('probe tell', { text }))),
      '',
      line('subagents spawn_subagents', { subagents: several, ...DETACHED }),
      '',
      line('sub_agent handover', to(helper, line('probe tell', { text: 'short' }))),
    )
    await world.untilTask(id, 'COMPLETED')
    const { handover, tool_calls } = await world.getTask(id)
    await world.untilTask(handover?.target_task_id ?? '', 'COMPLETED')
    const spawning = tool_calls[1]?.id as Id<'call'>
    const children = several.map((_, index) => spawnedId(spawning, index))
    await world.untilTask(children[1] ?? '', 'PENDING_APPROVAL')
    await world.untilTask(children[2] ?? '', 'COMPLETED')
    const running = await until('the grandchild runs', async () => gates.get('g'))
    expect(
      (await leftSince(before)).filter(key => key.startsWith('object')).length,
    ).toBeGreaterThan(3)
    expect(dataOf(await remove(id))).toEqual({ id, deleted: true })
    for (const gone of [id, handover?.target_task_id ?? '', ...children])
      expect(await statusOf(gone)).toBe(404)
    expect((await world.request('GET', `/api/v1/tool-calls/${spawning}`)).status).toBe(404)
    expect((await remove(id)).status).toBe(404)
    const left = await leftSince(before)
    // A slot is its holder's until that has come to its end.
    expect(left.filter(key => !key.startsWith(`${id} / `) && !key.startsWith('slots#'))).toEqual([])
    const media = dataOf<{ filename: string }[]>(await world.request('GET', '/api/v1/media'))
    expect(media.map(({ filename }) => filename)).toContain('a.md')
    expect(await auditOf(id)).toMatchObject([{ action: 'task-deleted', from: { agent_id: boss } }])

    // What still ran has no place to say so, but for the files that it keeps.
    running(long)
    await until('nothing runs', async () => (world.running() === 0 ? true : undefined))
    await finishDeletions()
    expect(await listParts(id)).not.toEqual([])
    await finishDeletions(later)
    expect(await leftSince(before)).toEqual(onlyId(id))
    expect(await world.approvals()).toEqual([])
  })

  it('has ended, and all that went on in its place', async () => {
    const id = await world.createTask(boss, line('probe ask', {}))
    await world.untilApproval(id)
    const refused = await remove(id)
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'INVALID_STATE'])
    expect(refused.body.error?.message).toContain('Cancel it first')
    dataOf(await world.request('POST', `/api/v1/tasks/${id}/cancel`))
    expect(dataOf(await remove(id))).toEqual({ id, deleted: true })

    const handing = line('sub_agent handover', to(helper, line('probe ask', {})))
    const first = await world.createTask(boss, handing)
    const [call] = await world.untilApproval(first)
    await world.untilTask(first, 'COMPLETED')
    expect((await remove(first)).body.error?.message).toContain(call.task_id)
    dataOf(await world.request('POST', `/api/v1/tasks/${first}/cancel`))
    expect((await remove(first)).status).toBe(200)
    expect(await statusOf(call.task_id ?? '')).toBe(404)
  })

  it('is not what somebody has just followed up: one of the two comes too late', async () => {
    const outcomes = new Set<string>()
    for (let attempt = 0; attempt < 6; attempt++) {
      const id = await world.createTask(boss, 'Hello')
      await world.untilTask(id, 'COMPLETED')
      const followUp = () =>
        world.request('POST', `/api/v1/tasks/${id}/follow-up`, { body: { prompt: 'And then?' } })
      const order = attempt % 2 === 0 ? [followUp, () => remove(id)] : [() => remove(id), followUp]
      const answers = (await Promise.all(order.map(each => each()))).map(({ status }) => status)
      const [followed, deleted] = attempt % 2 === 0 ? answers : answers.toReversed()
      outcomes.add(`${followed} ${deleted}`)
      if (deleted === 409) await world.untilTask(id, 'COMPLETED')
      else expect(await statusOf(id)).toBe(404)
    }
    // Both come through only where the new life has ended in between.
    const legal = ['200 409', '404 200', '409 200', '200 200']
    for (const outcome of outcomes) expect(legal).toContain(outcome)
  })

  it('is the one at the top of its tree', async () => {
    const id = await world.createTask(boss, line('sub_agent sub_agent', to(helper, 'Hello')))
    const { tool_calls } = await world.untilTask(id, 'COMPLETED')
    const child = derivedId('task', tool_calls[0]?.id ?? '')
    const refused = await remove(child)
    expect(refused.status).toBe(409)
    expect(refused.body.error).toMatchObject({
      message: expect.stringContaining(id),
      details: { root_task_id: id },
    })
    expect((await remove(id)).status).toBe(200)
  })

  it('is deleted by people who govern its agent, and by no agent', async () => {
    const id = await world.createTask(boss, 'Hello')
    await world.untilTask(id, 'COMPLETED')
    const { key } = await world.createAgentKey(boss)
    expect((await remove(id, key)).status).toBe(403)
    expect((await remove(id, (await world.createPerson()).key)).status).toBe(404)
    expect((await remove(id)).status).toBe(200)
  })

  it('is not made again by the request that made it', async () => {
    const before = await snapshot()
    const create = (key: string) =>
      world.request('POST', '/api/v1/tasks', {
        body: { agent_id: boss, prompt: 'a'.repeat(MAX_INLINE_BYTES) },
        headers: { 'idempotency-key': key },
      })
    const { id } = dataOf<{ id: string }>(await create('once'))
    await world.untilTask(id, 'COMPLETED')
    dataOf(await remove(id))
    await finishDeletions(later)
    const again = await create('once')
    expect([again.status, again.body.error?.code]).toEqual([409, 'INVALID_STATE'])
    expect(again.body.error?.message).toContain('new Idempotency-Key')
    expect(await leftSince(before)).toEqual(onlyId(id))
    const other = await create('twice')
    expect(other.status).toBe(201)
    await world.untilTask(dataOf<{ id: string }>(other).id, 'COMPLETED')
  })

  it('is gone at once, and what one request can’t remove goes with the next or by itself', async () => {
    const before = await snapshot()
    const several = Array.from({ length: 30 }, () => to(helper, 'Hello'))
    const spawning = line('subagents spawn_subagents', { subagents: several, ...DETACHED })
    for (const goOn of ['asked', 'swept']) {
      const id = await world.createTask(boss, spawning)
      const { tool_calls } = await world.untilTask(id, 'COMPLETED')
      // So many looks at the clock until a request's time is over.
      let looks = 0
      const app = appOf(
        deletion(() => {
          looks = 12
          return () => looks-- <= 0
        }),
      )
      const ask = async () => {
        const response = await app.request(`/api/v1/tasks/${id}`, {
          method: 'DELETE',
          headers: { authorization: `Bearer ${world.adminKey}` },
        })
        return { status: response.status, body: (await response.json()) as { data: unknown } }
      }
      expect(await ask()).toMatchObject({ status: 202, body: { data: { id, deleted: false } } })
      expect(await statusOf(id)).toBe(404)
      if (goOn === 'swept') await finishDeletions({ now: () => new Date(Date.now() + 61_000) })
      else await until('it is gone', async () => ((await ask()).status === 200 ? true : undefined))
      for (const [index] of several.entries())
        expect(await statusOf(spawnedId(tool_calls[0]?.id as Id<'call'>, index))).toBe(404)
      expect((await ask()).status).toBe(404)
      await finishDeletions(later)
    }
    const left = await leftSince(before)
    expect(left.filter(key => !key.endsWith(' / remains'))).toEqual([])
  })

  it('leaves nothing of what a late tick still wrote', async () => {
    const before = await snapshot()
    const id = await world.createTask(boss, 'Hello')
    await world.untilTask(id, 'COMPLETED')
    dataOf(await remove(id))
    const row = { taskId: id, seq: 7, createdAt: new Date().toISOString() }
    expect(await append(row, { role: 'user', text: long })).toBe(true)
    expect((await leftSince(before)).length).toBe(4)
    // One that comes only now finds nothing to do, and nothing to fail for.
    const event = { taskId: id, generation: 1 }
    expect(await tick(event, { tools, remainingMs: () => 900_000 })).toMatchObject({
      outcome: 'end',
    })
    await finishDeletions(later)
    expect(await leftSince(before)).toEqual(onlyId(id))
  })
})

const auditOf = async (target: string) =>
  dataOf<{ target: string }[]>(
    await world.request(
      'GET',
      `/api/v1/audit?principal_id=${dataOf<{ principal_id: string }>(await world.request('GET', '/api/v1/principals/me')).principal_id}`,
    ),
  ).filter(entry => entry.target === target)
