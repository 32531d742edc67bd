import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../lib/tool/define.ts'
import { agent, useAgent, world } from '../use-world.ts'
import { type CallView, dataOf } from '../world.ts'

// Half of a pair of surrogates is a text that no database takes: models write them, and whoever
// cuts a text makes them.

const HALF = '\ud83d'
const WHOLE = '\ufffd'

const probe = defineTool({
  name: 'probe',
  description: 'Cuts texts where it should not.',
  operations: {
    cut: {
      description: 'Cut.',
      parameters: z.object({ text: z.string() }),
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      describe: ({ text }) => `Cut ${text}`,
      execute: async ({ parameters: { text } }) => {
        if (text.startsWith('fail')) throw new Error(`No ${HALF}`)
        return { text, [`key ${HALF}`]: [`value ${HALF}`] }
      },
    },
  },
})

useAgent(['probe', 'calculator'], [probe])

describe('half a character', () => {
  it('in a model’s call and in a tool’s result stops no task, and what was approved runs', async () => {
    const id = await world.createTask(
      agent,
      `/probe cut {"text": "a\\ud83d"}`,
      '',
      `/probe cut {"text": "fail"}`,
      '',
      // The rehearsal shows 500 characters of a result: here it cuts a pair in two.
      `/calculator calculate ${JSON.stringify({ expression: `"${'x'.repeat(499)}😀"` })}`,
    )
    for (const text of [`a${WHOLE}`, 'fail']) {
      const [call] = await world.untilApproval(id)
      expect(call.arguments).toEqual({ text })
      await world.decide(call, 'approve')
      await world.untilCall(call.id, 'COMPLETED', 'FAILED')
    }
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response?.isWellFormed()).toBe(true)
    // JSON writes it as an escape, which is a text like any other.
    expect(task.tool_calls[0]?.result?.content).toContain('key \\ud83d')
    expect(task.tool_calls[1]?.result?.content).toBe(`No ${WHOLE}`)
  })

  it('in a request is a character of its own', async () => {
    const answer = await world.run(agent, 'probe.cut', '{"text": "b\\ud83d"}')
    expect(answer.status).toBe(202)
    const call = await world.getCall((answer.body.data as { call_id: string }).call_id)
    expect(call.arguments).toEqual({ text: `b${WHOLE}` })
    const path = `/api/v1/tool-calls/${call.id}/approve`
    const body = `{"digest": "${call.digest}", "arguments": {"text": "c\\udc00"}}`
    const decided = dataOf<CallView>(await world.request('POST', path, { body }))
    expect(decided.arguments).toEqual({ text: `c${WHOLE}` })
    const done = await world.untilCall(call.id, 'COMPLETED')
    expect(done.result?.content).toContain(`c${WHOLE}`)
  })

  it('in a cursor is a bad request', async () => {
    const made = { pk: HALF, sk: HALF, gsi1pk: HALF, gsi1sk: HALF }
    const cursor = Buffer.from(JSON.stringify(made)).toString('base64url')
    const answer = await world.request('GET', `/api/v1/tasks?cursor=${cursor}`)
    expect(answer.status).toBe(400)
  })
})
