import { describe, expect, it } from 'vitest'
import { useWorld, world } from '../use-world.ts'
import type { CallView } from '../world.ts'
import { probe, sent, waiting } from './letters.ts'

useWorld([probe])

describe('settings that change between approval and start', () => {
  /** Approves while the operation can't start, by holding the task's wake back until later. */
  const approvedUnder = async (text: string, change: (agent: string) => Promise<unknown>) => {
    const { agent, taskId, call } = await waiting(text)
    await change(agent)
    await world.decide(call, 'approve')
    return { agent, taskId, call }
  }

  it('puts the call up again, with a digest of its own', async () => {
    const { taskId, call } = await approvedUnder('changed', id =>
      world.setSettings(id, 'probe', { sender: 'Mallory' }),
    )
    const again = await world
      .untilApproval(taskId)
      .then(async ([first]) =>
        first.digest === call.digest ? await pendingAnew(taskId, call.digest) : first,
      )
    expect(again.id).toBe(call.id)
    expect(again.digest).not.toBe(call.digest)
    expect(again.decided_at).toBeNull()
    expect(sent('changed')).toHaveLength(0)
    expect((await world.decide(call, 'approve')).body.error?.code).toBe('DIGEST_MISMATCH')
    await world.decide(again, 'approve')
    await world.untilTask(taskId, 'COMPLETED')
    expect(sent('changed')).toEqual([{ text: 'changed', sender: 'Mallory' }])
  })

  it('notices a password that changed', async () => {
    const { taskId, call } = await approvedUnder('password', id =>
      world.setSettings(id, 'probe', { secret: 'hunter-2-hunter-2' }),
    )
    const again = await pendingAnew(taskId, call.digest)
    await world.decide(again, 'reject')
    await world.untilTask(taskId, 'COMPLETED')
    expect(sent('password')).toHaveLength(0)
  })

  it('does not mind those of another tool', async () => {
    const { taskId } = await approvedUnder('other', id =>
      world.setSettings(id, 'time', { timezone: 'Asia/Tokyo' }),
    )
    await world.untilTask(taskId, 'COMPLETED')
    expect(sent('other')).toHaveLength(1)
  })

  it('asks for each form of its own: from one to another and back', async () => {
    const {
      agent,
      taskId,
      call: first,
    } = await approvedUnder('there-and-back', id => world.setSettings(id, 'probe', { sender: 'B' }))
    const second = await pendingAnew(taskId, first.digest)
    await world.setSettings(agent, 'probe', { sender: null })
    await world.decide(second, 'approve')
    // The first form was approved once; that approval was used up when it was put up again.
    const third = await pendingAnew(taskId, second.digest)
    expect(third.digest).toBe(first.digest)
    expect(sent('there-and-back')).toHaveLength(0)
    await world.decide(third, 'approve')
    await world.untilTask(taskId, 'COMPLETED')
    expect(sent('there-and-back')).toEqual([{ text: 'there-and-back', sender: 'nobody' }])
  })

  it('tells whoever approves that what they saw has changed, and asks about what would run', async () => {
    const { agent, call } = await waiting('seen')
    await world.setSettings(agent, 'probe', { sender: 'Mallory' })
    const answer = await world.decide(call, 'approve')
    expect(answer.status).toBe(409)
    const again = await world.getCall(call.id)
    expect(answer.body.error?.details).toEqual({ digest: again.digest })
    expect(again).toMatchObject({ status: 'PENDING_APPROVAL', decided_at: null })
    await world.setSettings(agent, 'probe', { sender: null })
    await world.decide(again, 'reject')
  })

  it('approves nothing of a tool that was disabled since; it can be rejected', async () => {
    const { agent, taskId, call } = await waiting('disabled')
    const enable = `/api/v1/agents/${agent}/tools/probe/enable`
    await world.request('DELETE', enable)
    const answer = await world.decide(call, 'approve')
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'TOOL_DISABLED' } } })
    expect((await world.decide(call, 'reject')).status).toBe(200)
    await world.untilTask(taskId, 'COMPLETED')
    expect(sent('disabled')).toHaveLength(0)
    await world.request('POST', enable)
  })

  const pendingAnew = async (taskId: string, digest: string): Promise<CallView> => {
    for (let attempt = 0; attempt < 400; attempt++) {
      const found = (await world.approvals()).find(
        call => call.task_id === taskId && call.digest !== digest,
      )
      if (found) return found
      await new Promise(resolve => setTimeout(resolve, 15))
    }
    throw new Error('It was not put up again.')
  }
})
