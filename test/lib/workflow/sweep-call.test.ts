import { describe, expect, it, onTestFinished } from 'vitest'
import { lambda } from '../../../lib/aws/lambda.ts'
import { MAX_START_MS } from '../../../lib/call/give-up.ts'
import {
  callKey,
  createCall,
  EVENT_GRACE_MS,
  getCall,
  moveChange,
  ToolCall,
} from '../../../lib/call/tool-call.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { DUE_SHARDS, listAllDue } from '../../../lib/data/due.ts'
import * as table from '../../../lib/data/table.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { sweep } from '../../../lib/workflow/sweep.ts'
import { counted as operation, runs } from '../../probe.ts'
import { agent, useAgent, world } from '../../use-world.ts'

const probe = defineTool({
  name: 'probe',
  description: 'Counts its runs.',
  operations: {
    once: { ...operation, description: 'Once.' },
    idempotent: { ...operation, description: 'The same again.', effect: 'idempotent' },
    unasked: {
      ...operation,
      description: 'Without asking.',
      effect: 'idempotent',
      requiresApprovalByDefault: false,
    },
  },
})

useAgent(['probe'], [probe])

const inMilliseconds = (milliseconds: number) => ({
  now: () => new Date(Date.now() + milliseconds),
})

/** Every function is out of reach, until the test says otherwise or is over. */
const loseEvents = () => {
  const { middlewareStack } = lambda()
  middlewareStack.add(
    () => async () => {
      throw new Error('No function can be reached.')
    },
    { step: 'initialize', name: 'lose' },
  )
  const restore = () => middlewareStack.remove('lose')
  onTestFinished(() => void restore())
  return restore
}

let keys = 0
const approvedCall = async (effect = 'once') => {
  const headers = { 'idempotency-key': `call-${++keys}` }
  const answer = await world.run(agent, `probe.${effect}`, {}, { headers })
  const { call_id: id } = answer.body.data as { call_id: Id<'call'> }
  await world.decide(await world.getCall(id), 'approve')
  return id
}

/** An approved call whose function died when the call's time was up. */
const deadCall = async (effect: string) => {
  const restore = loseEvents()
  const id = await approvedCall(effect)
  restore()
  const call = await getCall(id)
  if (!call) throw new Error('There is no call.')
  const now = new Date().toISOString()
  const set = { startedAt: now, deadlineAt: now, claim: 'dead', runs: 1 }
  await table.update(ToolCall, callKey(id), moveChange(call, 'STARTED', set))
  return id
}

/** A call that ran at once, since it asks for no approval, and whose function died. */
const deadUnaskedCall = async (effect: 'once' | 'idempotent') => {
  const approved = await getCall(await deadCall(effect))
  if (!approved) throw new Error('There is no call.')
  const { decidedAt: _, decidedBy: __, digest: ___, ...call } = approved
  const id = newId('call')
  await createCall({ ...call, id, requiresApproval: false, operation: 'unasked' })
  return id
}

const listed = async () => {
  const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => listAllDue(shard))
  return (await Promise.all(shards)).flat().map(({ pk }) => pk)
}

describe('a call outside of tasks', () => {
  it('whose event was lost after its approval is run by the sweeper, once', async () => {
    const restore = loseEvents()
    const id = await approvedCall()
    const before = runs
    restore()
    // Its event might still be on its way.
    expect(await sweep({}, inMilliseconds(EVENT_GRACE_MS - 5_000))).toEqual({ looked: 0 })
    await sweep({}, inMilliseconds(EVENT_GRACE_MS))
    await world.untilCall(id, 'COMPLETED')
    expect(runs).toBe(before + 1)
    expect(await listed()).toEqual([])
  })

  it('is looked after no more once it has run by itself', async () => {
    const id = await approvedCall()
    await world.untilCall(id, 'COMPLETED')
    expect(await listed()).toEqual([])
  })

  it('whose function is out of reach for ten minutes is given up, and nothing ran', async () => {
    loseEvents()
    const id = await approvedCall()
    const decided = Date.parse((await getCall(id))?.decidedAt ?? '')
    const at = (milliseconds: number) => ({ now: () => new Date(decided + milliseconds) })
    await sweep({}, at(MAX_START_MS))
    expect((await getCall(id))?.status).toBe('APPROVED')
    await sweep({}, at(2 * MAX_START_MS))
    expect((await world.getCall(id)).status).toBe('FAILED')
    expect((await world.getCall(id)).result?.content).toContain('could not be started')
    expect(await listed()).toEqual([])
  })

  it('whose run died is run again where its effect is idempotent', async () => {
    const id = await deadCall('idempotent')
    const before = runs
    await sweep()
    await world.untilCall(id, 'COMPLETED')
    expect(runs).toBe(before + 1)
    expect(await listed()).toEqual([])
  })

  it('whose run died is a question to a person where it may run once', async () => {
    const id = await deadCall('once')
    const before = runs
    await sweep()
    expect((await getCall(id))?.status).toBe('UNKNOWN')
    expect((await world.approvals()).map(call => call.id)).toContain(id)
    expect(runs).toBe(before)
    expect(await listed()).toEqual([])
  })

  it('that asked for no approval is looked after as well, if it may have had an effect', async () => {
    const once = await deadUnaskedCall('once')
    const idempotent = await deadUnaskedCall('idempotent')
    await sweep()
    expect((await world.approvals()).map(call => call.id)).toContain(once)
    await world.untilCall(idempotent, 'COMPLETED')
    expect(await listed()).toEqual([])
  })

  it('that was approved long before the next process starts is tried then, not given up', async () => {
    const restore = loseEvents()
    const id = await approvedCall()
    restore()
    await sweep({ abandoned: true }, inMilliseconds(2 * MAX_START_MS))
    await world.untilCall(id, 'COMPLETED')
  })

  it('that a dead process had started is gone on with when the next one starts', async () => {
    const id = await deadCall('idempotent')
    await table.update(ToolCall, callKey(id), { set: { deadlineAt: '2999-01-01T00:00:00.000Z' } })
    await sweep({ abandoned: true })
    await world.untilCall(id, 'COMPLETED')
  })
})

it('an approval outside of tasks that nobody gives expires, though nobody looks at it', async () => {
  const headers = { 'idempotency-key': `call-${++keys}` }
  const answer = await world.run(agent, 'probe.once', {}, { headers })
  const { call_id: id } = answer.body.data as { call_id: Id<'call'> }
  const { approvalExpiresAt = '' } = (await getCall(id)) ?? {}
  const until = Date.parse(approvalExpiresAt) - Date.now()
  await sweep({}, inMilliseconds(until - 60_000))
  expect((await getCall(id))?.status).toBe('PENDING_APPROVAL')
  await sweep({}, inMilliseconds(until + 60_000))
  expect((await getCall(id))?.status).toBe('EXPIRED')
  expect((await world.approvals()).map(call => call.id)).not.toContain(id)
  // Nothing is due of it any more.
  const due = await Promise.all(Array.from({ length: DUE_SHARDS }, (_, shard) => listAllDue(shard)))
  expect(due.flat().map(({ pk }) => pk)).not.toContain(id)
})
