import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { getAgent } from '../../../lib/agent/agent.ts'
import { MAX_ARGUMENT_BYTES } from '../../../lib/call/arguments.ts'
import { config } from '../../../lib/core/config.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import {
  MAX_DATA_BYTES,
  MAX_HISTORY_EVENTS,
  MAX_NAME_CHARS,
} from '../../../lib/local/step-functions/limits.ts'
import { createTask } from '../../../lib/task/create.ts'
import { getTask } from '../../../lib/task/task.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { definition } from '../../../lib/workflow/definition.ts'
import { launch } from '../../../lib/workflow/execution.ts'
import { outcomeOf } from '../../../lib/workflow/outcome.ts'
import { MAX_TICKS_PER_GENERATION } from '../../../lib/workflow/tick.ts'
import { ask } from '../../probe.ts'
import { startWorld, until, type World } from '../../world.ts'

/** Ids and counters, and a token: nothing that grows with what a task is about. */
const MAX_EVENT_BYTES = 2_000

const wordy = defineTool({
  name: 'wordy',
  description: 'Takes and says much.',
  maxResultChars: 1_000_000,
  operations: {
    ask,
    take: {
      description: 'Take.',
      parameters: z.object({ text: z.string() }),
      effect: 'read',
      describe: ({ text }) => `Take ${text}`,
      execute: async ({ parameters: { text } }) => text,
    },
  },
})

let world: World
let agent: Id<'agent'>
let states: SFNClient
/** What went in and out of the functions that the state machine calls, as JSON. */
const passed: string[] = []

beforeAll(async () => {
  world = await startWorld([wordy], {
    wrap: load => async module => {
      const { handler } = await load(module)
      if (!['workflow/tick', 'workflow/park'].includes(module)) return { handler }
      return {
        handler: async (event, context) => {
          passed.push(JSON.stringify(event))
          const answer = await handler(event, context)
          passed.push(JSON.stringify(answer ?? null))
          return answer
        },
      }
    },
  })
  agent = await world.createAgent(['wordy'])
  states = new SFNClient({})
})
afterAll(() => world.stop())

describe('an execution', () => {
  const { States } = definition({ tick: 'tick', park: 'park' })

  /** The events of a state at worst: a function that fails as often as it is tried, and then not. */
  const worst = (state: (typeof States)[keyof typeof States]): number => {
    const enteredAndExited = 2
    if (!('Retry' in state)) return enteredAndExited
    // Each rule counts its own.
    const retries = state.Retry.reduce((sum, { MaxAttempts = 0 }) => sum + MaxAttempts, 0)
    // Scheduled, started, and succeeded or failed; one that hands out a token is submitted, too.
    const ofOneTry = state.Resource.endsWith('.waitForTaskToken') ? 4 : 3
    return enteredAndExited + (retries + 1) * ofOneTry
  }

  it('goes on in the next one before its history is full, however much goes wrong', () => {
    const { Tick, Choose, Park, Pause } = States
    const counted = worst(Tick) + worst(Choose) + Math.max(worst(Park), worst(Pause))
    // A tick that finds the lease held is not counted, and comes again when it is free.
    const uncounted = worst(Tick) + worst(Choose) + worst(Pause)
    const most = (MAX_TICKS_PER_GENERATION + 1) * (counted + uncounted)
    expect(most).toBeLessThan(MAX_HISTORY_EVENTS)
  })

  it('asks a function that finds no room again for a while, and no failure counts among that', () => {
    for (const { Retry } of [States.Tick, States.Park]) {
      const [noRoom, rest] = Retry.slice(-2)
      expect(noRoom?.ErrorEquals).toEqual(['Lambda.TooManyRequestsException'])
      expect(rest?.ErrorEquals).toEqual(['States.ALL'])
      const rule = noRoom as (typeof States.Tick.Retry)[number]
      const longest = Array.from({ length: rule.MaxAttempts }, (_, attempt) =>
        Math.min(rule.IntervalSeconds * rule.BackoffRate ** attempt, rule.MaxDelaySeconds),
      )
      // Half of the longest on the average: the moments are random.
      const seconds = longest.reduce((sum, each) => sum + each, 0) / 2
      expect(seconds / 60).toBeGreaterThanOrEqual(30)
    }
  })

  it('has a name that fits, whatever the generation', () => {
    const name = `${newId('task')}-${Number.MAX_SAFE_INTEGER}`
    expect(name.length).toBeLessThanOrEqual(MAX_NAME_CHARS)
  })

  it('takes the next name that is free where some were taken before', async () => {
    const id = newId('task')
    const stateMachineArn = config('stateMachineArn')
    // As a table that was restored from a backup finds them: ended, under names that it would give.
    for (const generation of [1, 2, 3, 4, 5, 6, 7]) {
      const { executionArn } = await states.send(
        new StartExecutionCommand({
          stateMachineArn,
          name: `${id}-${generation}`,
          input: JSON.stringify({ taskId: id, generation: 0 }),
        }),
      )
      await until('it has ended', async () => {
        const { status } = await states.send(new DescribeExecutionCommand({ executionArn }))
        return status === 'SUCCEEDED' ? true : undefined
      })
    }
    const { task } = await createTask({ id, agent: await getAgent(agent), prompt: 'Hello' })
    await launch(task)
    await world.untilTask(id, 'COMPLETED')
    expect((await getTask(id)).generation).toBe(8)
  })
})

describe('what passes through the state machine', () => {
  it('stays small, however much a task is about', async () => {
    passed.length = 0
    const text = 'w'.repeat(MAX_ARGUMENT_BYTES / 10)
    const id = await world.createTask(
      agent,
      [`/wordy take ${JSON.stringify({ text })}`, '/wordy ask {}'].join('\n\n'),
    )
    const [approval] = await world.untilApproval(id)
    await world.decide(approval, 'approve')
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.tool_calls[0]?.result?.content).toBe(text)
    expect(passed.length).toBeGreaterThan(4)
    for (const json of passed) expect(json.length).toBeLessThan(MAX_EVENT_BYTES)
    for (const json of passed) expect(json).not.toContain('www')
  })

  it('fits with the largest numbers and the longest token, many times over', () => {
    const counter = fc.nat({ max: Number.MAX_SAFE_INTEGER })
    const state = fc.record({
      taskId: fc.constant(newId('task')),
      generation: counter,
      wakeSeq: counter,
      fence: counter,
      waitSeconds: counter,
      // The longest that AWS gives: https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html
      token: fc.string({ minLength: 2_048, maxLength: 2_048 }),
    })
    fc.assert(
      fc.property(state, ({ taskId, generation, token, ...said }) => {
        const tick = outcomeOf('wait', { ...said, until: new Date().toISOString() })
        const whole = JSON.stringify({ taskId, generation, token, tick })
        expect(20 * Buffer.byteLength(whole)).toBeLessThan(MAX_DATA_BYTES)
      }),
    )
  })
})
