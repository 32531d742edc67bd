import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { tools } from '../../functions/tools/index.ts'
import { MAX_START_MS } from '../../lib/call/give-up.ts'
import type { Id } from '../../lib/core/ids.ts'
import type { StackOptions } from '../../lib/local/stack.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { ask } from '../probe.ts'
import { dataOf, startWorld, type World } from '../world.ts'
import { shiftTime } from './shift-time.ts'

/** A tool that the next version does without. */
const retired = defineTool({
  name: 'retired',
  description: 'Is there in the version before.',
  operations: {
    ask: { ...ask, effect: 'read' },
    read: {
      description: 'Read, if it can be reached.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Read',
      execute: async () => 'read',
    },
  },
})

/** Its functions are never reached: while they are replaced, and once they are gone. */
const unreachable =
  (load: StackOptions['load']): StackOptions['load'] =>
  async module => {
    if (module !== 'tools/retired') return load(module)
    return {
      handler: async () => {
        throw new Error('There is no such function.')
      },
    }
  }

describe('a tool that a deploy takes away', () => {
  let world: World
  let agent: Id<'agent'>
  let restoreTime = () => {}
  const waiting: Record<string, Id<'task'>> = {}

  beforeAll(async () => {
    world = await startWorld([retired], { wrap: unreachable })
    agent = await world.createAgent(['retired', 'time'])
    for (const name of ['approved', 'rejected', 'left']) {
      const id = await world.createTask(agent, '/retired ask {}', '', '/time now {}')
      await world.untilTask(id, 'PENDING_APPROVAL')
      waiting[name] = id
    }
    waiting.unreachable = await world.createTask(agent, '/retired read {}')
    await world.untilTask(waiting.unreachable, 'AWAITING_TOOL')
    // The deploy: no declaration any more, no function, and after it some time has passed.
    delete tools.retired
    restoreTime = shiftTime(MAX_START_MS + 60_000)
  })
  afterAll(async () => {
    await world?.stop()
    restoreTime()
  })

  const pendingOf = async (name: string) => {
    const [call] = await world.untilApproval(waiting[name] ?? '')
    return call
  }

  it('leaves its calls to be read, and those that wait in the list', async () => {
    const call = await pendingOf('left')
    expect(call).toMatchObject({ tool: 'retired', operation: 'ask', description: 'Ask' })
    expect(await world.getCall(call.id)).toMatchObject({ status: 'PENDING_APPROVAL' })
    const shown = await world.request('GET', `/api/v1/agents/${agent}`)
    expect(shown.status, shown.text).toBe(200)
  })

  it('has a call that is approved end with a reason, and its task go on', async () => {
    const call = await pendingOf('approved')
    const answer = await world.decide(call, 'approve')
    expect(dataOf<{ status: string }>(answer).status).toBe('FAILED')
    expect((await world.getCall(call.id)).result).toMatchObject({
      is_error: true,
      code: 'NOT_FOUND',
      content:
        'The operation "ask" of the tool "retired" is no longer part of this installation; nothing ran.',
    })
    const task = await world.untilTask(waiting.approved ?? '', 'COMPLETED')
    expect(task.tool_calls.map(({ status }) => status)).toEqual(['FAILED', 'COMPLETED'])
  })

  it('has a call that is rejected end as any other', async () => {
    dataOf(await world.decide(await pendingOf('rejected'), 'reject'))
    const task = await world.untilTask(waiting.rejected ?? '', 'COMPLETED')
    expect(task.tool_calls[0]?.status).toBe('REJECTED')
  })

  it('has a call that was never started given up, and its task go on', async () => {
    const task = await world.untilTask(waiting.unreachable ?? '', 'COMPLETED')
    expect(task.tool_calls[0]).toMatchObject({
      status: 'FAILED',
      result: { is_error: true, content: 'The operation could not be started; nothing ran.' },
    })
  })

  it('is no tool that a model can call any more', async () => {
    const id = await world.createTask(agent, '/retired read {}')
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.tool_calls[0]?.result?.content).toContain('There is no tool "retired"')
  })
})
