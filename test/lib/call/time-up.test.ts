import { expect, it } from 'vitest'
import * as z from 'zod'
import { getCall } from '../../../lib/call/tool-call.ts'
import { derivedId } from '../../../lib/core/ids.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { sweep } from '../../../lib/workflow/sweep.ts'
import { wake } from '../../../lib/workflow/wake.ts'
import { agent, useAgent, world } from '../../use-world.ts'
import { until } from '../../world.ts'

const letGo: (() => void)[] = []
let effects = 0
const keys: string[] = []
const operation = {
  parameters: z.object({}),
  timeoutSeconds: 0.1,
  describe: () => 'Do it',
}
const probe = defineTool({
  name: 'probe',
  description: 'Takes longer than it has.',
  operations: {
    once: {
      ...operation,
      description: 'Act, whatever the signal says.',
      execute: async () => {
        await new Promise<void>(resolve => letGo.push(resolve))
        effects += 1
        return 'It is done.'
      },
    },
    obedient: {
      ...operation,
      description: 'Stop where the signal says so.',
      execute: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    },
    idempotent: {
      ...operation,
      description: 'Take too long the first time.',
      effect: 'idempotent',
      execute: async ({ idempotencyKey }) => {
        keys.push(idempotencyKey)
        if (keys.length === 1) await new Promise<void>(resolve => letGo.push(resolve))
        return `Run ${keys.length}`
      },
    },
  },
})

useAgent(['probe'], [probe])

it('an operation that may run once and takes too long has not failed: a person has to say', async () => {
  const id = await world.createTask(agent, '/probe once {}')
  const task = await world.untilTask(id, 'AWAITING_SETTLEMENT')
  const [call] = task.tool_calls
  expect(call).toMatchObject({ status: 'UNKNOWN' })
  await world.request('POST', `/api/v1/tool-calls/${call?.id}/settle`, { body: { ran: false } })
  const { final_response } = await world.untilTask(id, 'COMPLETED')
  expect(final_response).toContain('did not run')
  // What it does after a person has settled it changes nothing any more.
  letGo.shift()?.()
  await until('the effect', async () => effects || undefined)
  expect((await world.getCall(call?.id ?? '')).status).toBe('FAILED')
})

it('and what it still comes to lands, where nobody has settled it', async () => {
  const headers = { 'idempotency-key': 'late' }
  const answer = await world.run(agent, 'probe.once', {}, { headers })
  expect(answer.status).toBe(202)
  const { call_id: id, status } = answer.body.data as { call_id: string; status: string }
  expect(status).toBe('UNKNOWN')
  letGo.shift()?.()
  expect((await world.untilCall(id, 'COMPLETED')).result?.content).toBe('It is done.')
})

it('nor has it where it stopped when it was told to: it may have acted before', async () => {
  const headers = { 'idempotency-key': 'obedient' }
  const answer = await world.run(agent, 'probe.obedient', {}, { headers })
  expect(answer.body.data).toMatchObject({ status: 'UNKNOWN' })
})

it('an idempotent one is run again under the same key', async () => {
  const id = await world.createTask(agent, '/probe idempotent {}')
  const callId = derivedId('call', id, 1, 0)
  await until('the first run is given up', async () => {
    const call = await getCall(callId)
    return (call?.deadlineAt ?? '9') <= new Date().toISOString() || undefined
  })
  // It would look again by itself, in a few seconds.
  await wake(id)
  const task = await world.untilTask(id, 'COMPLETED')
  expect(keys).toEqual([callId, callId])
  // The first run comes to its end after all: the second one's result stands.
  letGo.shift()?.()
  expect(task.tool_calls[0]).toMatchObject({ status: 'COMPLETED', result: { content: 'Run 2' } })
})

it('an idempotent one outside of tasks is run again by the sweeper', async () => {
  keys.length = 0
  const answer = await world.run(agent, 'probe.idempotent')
  expect(answer.status).toBe(202)
  const { call_id: id, status } = answer.body.data as { call_id: string; status: string }
  expect(status).toBe('STARTED')
  await sweep()
  expect((await world.untilCall(id, 'COMPLETED')).result?.content).toBe('Run 2')
  letGo.shift()?.()
})
