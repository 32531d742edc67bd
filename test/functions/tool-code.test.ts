import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { snapshot, startWorld, type World } from '../world.ts'

// A tool's own code runs in more places than `execute`: what it throws there ends the call that it
// is about, says nothing, and keeps no task from going on.

const SECRET = 'canary-secret-4711'
const ARGUMENT = 'canary-argument-4711'

const probe = defineTool({
  name: 'probe',
  description: 'Fails wherever it can.',
  settings: { key: setting.password({ label: 'Key' }) },
  available: ({ settings: { key } }) => {
    if (key) throw new TypeError(`Invalid URL: https://x/?key=${key}`)
    return true
  },
  operations: {
    check: {
      description: 'Check.',
      parameters: z.object({
        text: z.string().refine(text => {
          throw new Error(`private argument ${text}`)
        }),
      }),
      effect: 'read',
      describe: () => 'Check',
      execute: async () => 'checked',
    },
    tell: {
      description: 'Tell.',
      parameters: z.object({ text: z.string() }),
      effect: 'read',
      describe: ({ text }) => {
        if (text === 'half') return 'Tell \ud83d'
        if (text === 'nothing') return undefined as unknown as string
        throw new Error(`private argument ${text}`)
      },
      execute: async () => 'told',
    },
  },
})

let world: World
let agent: string
beforeAll(async () => {
  world = await startWorld([probe])
  agent = await world.createAgent(['probe', 'time'])
})
afterAll(() => world.stop())
beforeEach(() => {
  world.logs.length = 0
})

const expectSilence = async (canary: string) => {
  expect(JSON.stringify(world.logs)).not.toContain(canary)
  expect(JSON.stringify(await snapshot())).not.toContain(canary)
}

describe('a tool whose `available` throws', () => {
  it('is not available, not offered, and tells nobody the password it was given', async () => {
    const keyed = await world.createAgent(['probe', 'time'])
    await world.setSettings(keyed, 'probe', { key: SECRET })
    const answer = await world.run(keyed, 'probe.tell', { text: 'x' })
    expect(answer.body.error?.code).toBe('TOOL_UNAVAILABLE')
    expect(answer.text).not.toContain(SECRET)
    const id = await world.createTask(keyed, '/probe tell {"text": "x"}', '/time now {}')
    const task = await world.untilTask(id, 'COMPLETED', 'FAILED')
    expect(task.tool_calls.map(({ status }) => status)).toEqual(['FAILED', 'COMPLETED'])
    await expectSilence(SECRET)
    expect(world.logs).toContainEqual(
      expect.objectContaining({ event: 'availability-failed', error: 'TypeError' }),
    )
  })
})

describe('a check of arguments that throws', () => {
  it('refuses the call and no more', async () => {
    const answer = await world.run(agent, 'probe.check', { text: ARGUMENT })
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_ERROR' } } })
    const line = '/probe check {"text": "x"}'
    const task = await world.untilTask(await world.createTask(agent, line), 'COMPLETED')
    expect(task.tool_calls[0]?.result).toMatchObject({ is_error: true, code: 'VALIDATION_ERROR' })
    await expectSilence(ARGUMENT)
  })
})

describe('a description that fails', () => {
  it.each(['half', 'nothing', ARGUMENT])('for %s leaves the call one that runs', async text => {
    const line = `/probe tell ${JSON.stringify({ text })}`
    const task = await world.untilTask(await world.createTask(agent, line), 'COMPLETED')
    expect(task.tool_calls[0]).toMatchObject({ status: 'COMPLETED' })
    expect(JSON.stringify(world.logs)).not.toContain(ARGUMENT)
  })
})
