import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { rotate, settingsSource } from '../../lib/settings/rotate.ts'
import { useWorld, world } from '../use-world.ts'
import { type CallView, dataOf } from '../world.ts'
import { probe, sent, waiting } from './letters.ts'

useWorld([probe])
afterEach(() => vi.unstubAllEnvs())

const sources = [settingsSource((tool, key) => tool === 'probe' && key === 'secret')]

/** Puts a new key in front, encrypts all anew, and renames the old one, as docs/settings.md says. */
const rotateWholly = async () => {
  const old = process.env.ESPALIER_SETTINGS_KEYS ?? ''
  const current = `v2:${randomBytes(32).toString('base64')}`
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `${current},${old}`)
  const { reencrypted } = await rotate(sources)
  expect(reencrypted).toBe(1)
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `${current},${old.replace(/^v1:/, 'lasting:')}`)
}

describe('a rotation of keys', () => {
  it('between a call’s approval and its start lets it run, and asks nobody again', async () => {
    const { agent, taskId, call } = await waiting('rotated')
    await world.setSettings(agent, 'probe', { secret: 'hunter-2-hunter-2' })
    // Under its new settings the call has another digest: that is what is approved.
    await world.decide(call, 'approve')
    const [again] = await world.untilApproval(taskId)
    expect(again.digest).not.toBe(call.digest)
    await rotateWholly()
    const decided = dataOf<CallView>(await world.decide(again, 'approve'))
    expect(decided.digest).toBe(again.digest)
    const task = await world.untilTask(taskId, 'COMPLETED')
    expect(task.tool_calls).toMatchObject([{ status: 'COMPLETED', digest: again.digest }])
    expect(sent('rotated')).toHaveLength(1)
  })
})
