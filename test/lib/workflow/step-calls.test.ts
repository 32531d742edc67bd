import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Id } from '../../../lib/core/ids.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { MAX_AWAITED_SECONDS } from '../../../lib/tool/options.ts'
import { MAX_CALLS_AT_ONCE } from '../../../lib/workflow/step-calls.ts'
import { sweep } from '../../../lib/workflow/sweep.ts'
import { dataOf, startWorld, until, type World } from '../../world.ts'

/** What began and ended, in order. */
let log: string[] = []
let atOnce = 0
let most = 0
let wanted = 1
let release = () => {}

const name = z.object({ name: z.string() })

const working = async (label: string): Promise<string> => {
  log.push(`begin ${label}`)
  atOnce += 1
  most = Math.max(most, atOnce)
  // Whoever may run beside others waits for them.
  await until(`${wanted} run at once`, async () => (most >= wanted ? true : undefined))
  atOnce -= 1
  log.push(`end ${label}`)
  return `Did ${label}`
}

const probe = defineTool({
  name: 'probe',
  description: 'Reads and writes, shortly and long.',
  operations: {
    read: {
      description: 'Read.',
      parameters: name,
      effect: 'read',
      describe: () => 'Read',
      execute: ({ parameters }) => working(`read ${parameters.name}`),
    },
    write: {
      description: 'Write.',
      parameters: name,
      effect: 'once',
      describe: () => 'Write',
      execute: ({ parameters }) => working(`write ${parameters.name}`),
    },
    long: {
      description: 'Take long.',
      parameters: name,
      effect: 'once',
      timeoutSeconds: MAX_AWAITED_SECONDS + 1,
      describe: () => 'Take long',
      execute: async ({ parameters }) => {
        log.push(`begin long ${parameters.name}`)
        await new Promise<void>(resolve => {
          release = resolve
        })
        return `Took long over ${parameters.name}`
      },
    },
  },
})

let world: World
let agent: Id<'agent'>
beforeAll(async () => {
  world = await startWorld([probe])
  agent = await world.createAgent(['probe'])
})
afterAll(() => world.stop())
beforeEach(() => {
  log = []
  most = 0
  wanted = 1
})

const line = (operation: string, label: string) =>
  `/probe ${operation} ${JSON.stringify({ name: label })}`

describe('the calls of one step', () => {
  it('that only read run side by side, and their answers keep their places', async () => {
    const labels = ['a', 'b', 'c', 'd']
    wanted = labels.length
    const id = await world.createTask(agent, ...labels.map(label => line('read', label)))
    await world.untilTask(id, 'COMPLETED')
    expect(most).toBe(labels.length)
    expect(log.slice(0, 4).every(entry => entry.startsWith('begin'))).toBe(true)
    const told = (await world.history(id)).filter(({ role }) => role === 'tool')
    expect(told.map(({ text }) => text)).toEqual(labels.map(label => `Did read ${label}`))
  })

  it('are not more at once than the account should give to one task', async () => {
    wanted = MAX_CALLS_AT_ONCE
    const labels = Array.from({ length: MAX_CALLS_AT_ONCE + 1 }, (_, index) => `${index}`)
    const id = await world.createTask(agent, ...labels.map(label => line('read', label)))
    await world.untilTask(id, 'COMPLETED')
    expect(most).toBe(MAX_CALLS_AT_ONCE)
  })

  it('that have an effect run one after the other, in order, and no read passes them', async () => {
    const id = await world.createTask(
      agent,
      line('write', '1'),
      line('write', '2'),
      line('read', 'a'),
      line('read', 'b'),
      line('write', '3'),
    )
    await world.untilTask(id, 'COMPLETED')
    expect(log.slice(0, 4)).toEqual([
      'begin write 1',
      'end write 1',
      'begin write 2',
      'end write 2',
    ])
    expect(log.slice(4, 8).sort()).toEqual([
      'begin read a',
      'begin read b',
      'end read a',
      'end read b',
    ])
    expect(log.slice(8)).toEqual(['begin write 3', 'end write 3'])
  })
})

describe('an operation that takes long', () => {
  it('is awaited by nobody: the task waits for it, and goes on as soon as it has ended', async () => {
    const id = await world.createTask(agent, line('long', 'a task'))
    await world.untilTask(id, 'AWAITING_TOOL')
    await until('it runs', async () => (log.length > 0 ? true : undefined))
    // What looks after what hangs finds nothing to do, and nothing runs twice.
    await sweep()
    release()
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response).toContain('Took long over a task')
    expect(log).toEqual(['begin long a task'])
  })

  it('answers 202 over HTTP, runs once however often it is asked for, and shows its end', async () => {
    const headers = { 'idempotency-key': 'long' }
    const ask = () => world.run(agent, 'probe.long', { name: 'a call' }, { headers })
    const [first, again] = [await ask(), await ask()]
    expect([first.status, again.status]).toEqual([202, 202])
    const { call_id: id } = dataOf<{ call_id: string }>(first)
    expect(dataOf<{ call_id: string }>(again).call_id).toBe(id)
    await world.untilCall(id, 'STARTED')
    expect((await ask()).status).toBe(202)
    await until('it runs', async () => (log.length > 0 ? true : undefined))
    release()
    const call = await world.untilCall(id, 'COMPLETED')
    expect(call.result?.content).toBe('Took long over a call')
    expect((await ask()).status).toBe(200)
    expect(log).toEqual(['begin long a call'])
  })
})
