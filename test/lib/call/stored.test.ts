import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { tools } from '../../../functions/tools/index.ts'
import { MAX_START_MS } from '../../../lib/call/give-up.ts'
import { DEADLINE_GRACE_SECONDS } from '../../../lib/call/receipt.ts'
import { runStored } from '../../../lib/call/stored.ts'
import { callKey, getCall, ToolCall } from '../../../lib/call/tool-call.ts'
import type { Id } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { getTask, Task, taskKey } from '../../../lib/task/task.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { setting } from '../../../lib/tool/setting.ts'
import { tick } from '../../../lib/workflow/tick.ts'
import { snapshot, startWorld, type World } from '../../world.ts'

let runs = 0
const operation = {
  description: 'Do it.',
  parameters: z.object({}),
  requiresApprovalByDefault: true,
  describe: () => 'Do it',
}
const probe = defineTool({
  name: 'probe',
  description: 'Counts its runs.',
  settings: { where: setting.text({ label: 'Where' }) },
  operations: {
    go: {
      ...operation,
      execute: async () => {
        runs += 1
        await new Promise(resolve => setTimeout(resolve, 20))
        return 'done'
      },
    },
    sleep: {
      ...operation,
      effect: 'read',
      requiresApprovalByDefault: false,
      timeoutSeconds: 1,
      execute: ({ signal }) => new Promise(resolve => signal.addEventListener('abort', resolve)),
    },
  },
})
const other = defineTool({
  ...probe,
  name: 'other',
  operations: { go: { ...operation, execute: async () => 'other' } },
})
/** A tool that is declared, and whose function nobody deployed. */
const ghost = defineTool({
  name: 'ghost',
  description: 'Is not there.',
  operations: { go: { ...operation, requiresApprovalByDefault: false, execute: async () => 'x' } },
})

let world: World
let agent: Id<'agent'>
beforeAll(async () => {
  world = await startWorld([probe])
  tools.ghost = async () => ({ tool: ghost })
  agent = await world.createAgent(['probe', 'ghost'])
})
afterAll(() => world.stop())

let keys = 0
const waitingCall = async () => {
  const headers = { 'idempotency-key': `key-${++keys}` }
  const answer = await world.run(agent, 'probe.go', {}, { headers })
  return (answer.body.data as { call_id: Id<'call'> }).call_id
}

/** Approved, and not yet started: what its function is then invoked for. */
const approvedCall = async () => {
  const id = await waitingCall()
  const before = await getCall(id)
  await world.decide(await world.getCall(id), 'approve')
  await world.untilCall(id, 'COMPLETED')
  await table.update(ToolCall, callKey(id), {
    set: { status: 'APPROVED', digest: before?.digest },
    remove: ['startedAt', 'endedAt', 'result', 'runs', 'claim', 'deadlineAt'],
  })
  return id
}

describe('a stored call', () => {
  it('runs once, however often its function is invoked at once', async () => {
    const id = await approvedCall()
    const before = runs
    const calls = await Promise.all([1, 2, 3, 4].map(() => runStored(probe, id)))
    expect(runs).toBe(before + 1)
    expect(calls.filter(({ status }) => status === 'COMPLETED')).toHaveLength(1)
    expect((await runStored(probe, id)).status).toBe('COMPLETED')
    expect(runs).toBe(before + 1)
  })

  it('does not run before it was approved, nor by the word of its own row', async () => {
    const id = await waitingCall()
    const before = runs
    expect((await runStored(probe, id)).status).toBe('PENDING_APPROVAL')
    // An operation's role may write calls, and decisions it may not.
    await table.update(ToolCall, callKey(id), { set: { status: 'APPROVED' } })
    expect((await runStored(probe, id)).status).toBe('PENDING_APPROVAL')
    const asked = { status: 'REQUESTED' as const, requiresApproval: false }
    await table.update(ToolCall, callKey(id), { set: asked, remove: ['digest'] })
    expect((await runStored(probe, id)).status).toBe('PENDING_APPROVAL')
    expect(runs).toBe(before)
  })

  it('is put up again where anything of it was changed after the approval', async () => {
    const id = await approvedCall()
    const before = runs
    await table.update(ToolCall, callKey(id), { set: { meta: { changed: 'yes' } } })
    expect((await runStored(probe, id)).status).toBe('PENDING_APPROVAL')
    expect(runs).toBe(before)
  })

  it('is put up again where its tool’s settings changed after the approval, and asks for each form', async () => {
    const id = await approvedCall()
    const first = await getCall(id)
    const before = runs
    await world.setSettings(agent, 'probe', { where: 'B' })
    const second = await runStored(probe, id)
    expect(second.status).toBe('PENDING_APPROVAL')
    expect(second.digest).not.toBe(first?.digest)
    // Who decided about the first form decided nothing about this one.
    expect(second.decidedAt).toBeUndefined()
    await table.update(ToolCall, callKey(id), { set: { status: 'APPROVED' } })
    await world.setSettings(agent, 'probe', { where: null })
    // Its own digest is the second form’s: the approval of the first one has been used up.
    const third = await runStored(probe, id)
    expect(third).toMatchObject({ status: 'PENDING_APPROVAL', digest: first?.digest })
    expect(runs).toBe(before)
    await world.decide(await world.getCall(id), 'approve')
    await world.untilCall(id, 'COMPLETED')
    expect(runs).toBe(before + 1)
  })

  it('runs where settings changed and changed back, or are another tool’s', async () => {
    const id = await approvedCall()
    await world.setSettings(agent, 'probe', { where: 'B' })
    await world.setSettings(agent, 'probe', { where: null })
    await world.setSettings(agent, 'time', { timezone: 'Asia/Tokyo' })
    expect((await runStored(probe, id)).status).toBe('COMPLETED')
  })

  it('does not run where its tool was disabled after the approval', async () => {
    const id = await approvedCall()
    const enable = `/api/v1/agents/${agent}/tools/probe/enable`
    const before = runs
    await world.request('DELETE', enable)
    expect((await runStored(probe, id)).status).toBe('FAILED')
    await world.request('POST', enable)
    expect((await world.getCall(id)).result?.code).toBe('TOOL_DISABLED')
    expect(runs).toBe(before)
  })

  it('is none of another tool’s', async () => {
    const id = await approvedCall()
    const before = await snapshot()
    await expect(runStored(other, id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await snapshot()).toEqual(before)
  })

  it('is given its function’s time and a minute, to the millisecond', async () => {
    const id = await approvedCall()
    const call = await runStored(probe, id)
    const given = Date.parse(call.deadlineAt ?? '') - Date.parse(call.startedAt ?? '')
    expect(given).toBe((25 + DEADLINE_GRACE_SECONDS) * 1_000)
  })
})

describe('an operation', () => {
  it('that takes longer than its time has failed, and says so', async () => {
    const answer = await world.run(agent, 'probe.sleep', {})
    expect(answer.body.data).toMatchObject({
      status: 'FAILED',
      content: 'The operation took longer than its 1 seconds.',
    })
  })

  it('whose function can’t be reached is tried for ten minutes, then given up', async () => {
    const id = await world.createTask(agent, '/ghost go {}')
    const task = await world.untilTask(id, 'AWAITING_TOOL')
    const call = await getCall(task.tool_calls[0]?.id as Id<'call'>)
    // Its own execution goes no further: this is the test's.
    await table.update(Task, taskKey(id), { set: { generation: 9 }, remove: ['token'] })
    const at = (milliseconds: number) => ({
      now: () => new Date(Date.parse(call?.createdAt ?? '') + milliseconds),
    })
    const context = { tools, remainingMs: () => 900_000 }
    const event = { taskId: id, generation: 9 }
    expect(await tick(event, { ...context, clock: at(MAX_START_MS) })).toMatchObject({
      outcome: 'wait',
    })
    expect(await tick(event, { ...context, clock: at(MAX_START_MS + 1) })).toMatchObject({
      outcome: 'end',
    })
    expect((await getTask(id)).status).toBe('COMPLETED')
    expect((await world.getCall(call?.id ?? '')).result?.content).toContain('could not be started')
  })
})

describe('a function that is given a stored call', () => {
  it('runs it where it is the function of just this operation', async () => {
    const id = await approvedCall()
    const foreign = { functionName: 'espalier-local-tool-probe-sleep' }
    await expect(runStored(probe, id, foreign)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await getCall(id))?.status).toBe('APPROVED')
    const own = { functionName: 'espalier-local-tool-probe-go' }
    expect((await runStored(probe, id, own)).status).toBe('COMPLETED')
  })
})
