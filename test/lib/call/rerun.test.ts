import { describe, expect, it } from 'vitest'
import { runStored } from '../../../lib/call/stored.ts'
import { callKey, getCall, ToolCall } from '../../../lib/call/tool-call.ts'
import type { Id } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { setting } from '../../../lib/tool/setting.ts'
import { counted as operation, runs } from '../../probe.ts'
import { agent, useAgent, world } from '../../use-world.ts'

const probe = defineTool({
  name: 'probe',
  description: 'Counts its runs.',
  settings: { where: setting.text({ label: 'Where' }) },
  operations: {
    idempotent: { ...operation, description: 'The same again.', effect: 'idempotent' },
    read: { ...operation, description: 'Nothing.', effect: 'read' },
  },
})

useAgent(['probe'], [probe])

/** An approved call whose function started it, and died before it said what came of it. */
const deadCall = async (effect: string) => {
  const answer = await world.run(agent, `probe.${effect}`)
  const { call_id: id } = answer.body.data as { call_id: Id<'call'> }
  await world.decide(await world.getCall(id), 'approve')
  await world.untilCall(id, 'COMPLETED')
  await table.update(ToolCall, callKey(id), {
    set: { status: 'STARTED', deadlineAt: new Date(Date.now() - 1).toISOString() },
    remove: ['endedAt', 'result'],
  })
  return id
}

describe('a run that may be repeated', () => {
  it.each([
    ['idempotent', 'UNKNOWN'],
    ['read', 'FAILED'],
  ])('is not denied where its tool was disabled since: %s', async (effect, status) => {
    const id = await deadCall(effect)
    const before = runs
    const enable = `/api/v1/agents/${agent}/tools/probe/enable`
    await world.request('DELETE', enable)
    const call = await runStored(probe, id)
    await world.request('POST', enable)
    expect(call.status).toBe(status)
    expect((await world.getCall(id)).result?.code ?? null).toBeNull()
    expect(runs).toBe(before)
  })

  it.each([
    ['idempotent', 'UNKNOWN'],
    ['read', 'FAILED'],
  ])('is not put up again where settings changed since: %s', async (effect, status) => {
    const id = await deadCall(effect)
    const before = runs
    await world.setSettings(agent, 'probe', { where: `Changed for ${effect}` })
    expect((await runStored(probe, id)).status).toBe(status)
    expect((await getCall(id))?.status).toBe(status)
    expect(runs).toBe(before)
  })
})
