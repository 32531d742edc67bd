import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { AppError } from '../../lib/core/errors.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { snapshot, startWorld, type World } from '../world.ts'

const SECRET = 'p4ss/word+with spaces & more'
const ARGUMENT = 'canary-argument-4711'
const SETTING = 'canary-setting-4711'
const QUERY = 'canary-query-4711'
const PROMPT = 'canary-prompt-4711'

const probe = defineTool({
  name: 'probe',
  description: 'Tells what it should keep to itself.',
  settings: {
    secret: setting.password({ label: 'Secret' }),
    plain: setting.text({ label: 'Plain' }),
  },
  operations: {
    tell: {
      description: 'Tell.',
      parameters: z.object({ how: z.string(), text: z.string() }),
      effect: 'idempotent',
      describe: ({ how }) => `Tell it as ${how}`,
      execute: async ({ parameters: { how, text }, settings: { secret = '', plain } }) => {
        const all = `${text} ${plain} ${secret}`
        if (how === 'error') throw new Error(`It failed with ${all}`)
        if (how === 'our error') throw new AppError('BAD_REQUEST', `It failed with ${all}`)
        if (how === 'no error') throw all
        if (how === 'like frames') throw new Error(`x:\n    at call (https://x/?key=${secret})`)
        if (how === 'a name') throw Object.assign(new Error(all), { name: secret })
        if (how === 'no text') throw Object.assign(Object.create(null), { secret })
        if (how === 'base64') return Buffer.from(all).toString('base64')
        if (how === 'url') return `https://example.com/?key=${encodeURIComponent(secret)}`
        return { said: all, [secret]: [secret] }
      },
    },
  },
})

let world: World
let agent: string

beforeAll(async () => {
  world = await startWorld([probe])
  agent = await world.createAgent(['probe'])
  await world.setSettings(agent, 'probe', { secret: SECRET, plain: SETTING })
})
afterAll(() => world.stop())

const FORMS = [
  SECRET,
  JSON.stringify(SECRET).slice(1, -1),
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64').slice(0, -4),
]
const expectNone = (text: string, canaries: string[]) => {
  for (const canary of canaries) expect(text).not.toContain(canary)
}

const HOWS = [
  ...['error', 'our error', 'no error', 'like frames', 'a name', 'no text'],
  ...['base64', 'url', 'result'],
]

describe('a password that a tool tells', () => {
  it.each(HOWS)('as %s is masked for who asked, in the history and in every row', async how => {
    const answer = await world.run(agent, 'probe.tell', { how, text: ARGUMENT })
    expect(answer.text).toContain('***')
    const line = `/probe tell ${JSON.stringify({ how, text: ARGUMENT })}`
    const id = await world.createTask(agent, line)
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response).toContain('***')
    expectNone(answer.text, FORMS)
    expectNone(JSON.stringify([task, await world.history(id)]), FORMS)
    expectNone(JSON.stringify(await snapshot()), FORMS)
  })

  it('is masked in the answer to who wrote it, and kept where *** is written', async () => {
    const path = `/api/v1/agents/${agent}/tools/probe/settings`
    const answer = await world.request('PUT', path, { body: { secret: '***', plain: SETTING } })
    expect(answer.body.data).toMatchObject({ settings: { secret: { value: '***' } } })
    const told = await world.run(agent, 'probe.tell', { how: 'url', text: '' })
    expect(told.text).toContain('key=***')
  })
})

describe('the log', () => {
  it('has no argument, setting, prompt, key or query in any line', async () => {
    world.logs.length = 0
    for (const how of HOWS) await world.run(agent, 'probe.tell', { how, text: ARGUMENT })
    await world.run(agent, 'probe.tell', { how: 'x', text: ARGUMENT, [ARGUMENT]: 1 })
    await world.run(agent, 'probe.tell', `{"text": "${ARGUMENT}`)
    await world.request('GET', `/api/v1/tasks?limit=${QUERY}`)
    await world.request('GET', `/api/v1/tasks?cursor=${QUERY}`)
    await world.request('GET', `/api/v1/public/media/media_${'0'.repeat(26)}?token=${QUERY}`)
    await world.request('GET', `/api/v1/${QUERY}?a=${QUERY}`)
    await world.request('GET', '/api/v1/agents', { key: QUERY })
    await world.setSettings(agent, 'probe', { plain: SETTING })
    const bad = { body: { plain: 1, [SETTING]: SETTING } }
    await world.request('PUT', `/api/v1/agents/${agent}/tools/probe/settings`, bad)
    const id = await world.createTask(
      agent,
      PROMPT,
      ...HOWS.map(how => `/probe tell ${JSON.stringify({ how, text: ARGUMENT })}`),
      `/probe tell {"how": "${ARGUMENT}", "${ARGUMENT}": 1}`,
      `/nothing ${ARGUMENT} {}`,
      `/probe tell {"${ARGUMENT}`,
    )
    await world.untilTask(id, 'COMPLETED')
    const lines = world.logs.map(entry => JSON.stringify(entry))
    expect(lines.length).toBeGreaterThan(20)
    const canaries = [...FORMS, ARGUMENT, SETTING, QUERY, PROMPT, world.adminKey]
    expect(lines.filter(line => canaries.some(canary => line.includes(canary)))).toEqual([])
  })

  it('names a request by its pattern, and says how it went', async () => {
    world.logs.length = 0
    await world.request('GET', `/api/v1/agents/${agent}?x=${QUERY}`)
    const entry = world.logs.find(({ event }) => event === 'request-handled')
    expect(entry).toMatchObject({ method: 'GET', route: '/api/v1/agents/:id', status: 200 })
  })
})
