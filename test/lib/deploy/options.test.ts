import { afterEach, describe, expect, it, vi } from 'vitest'
import { optionsOf } from '../../../lib/deploy/options.ts'

const options = (stage: string, quota: number | undefined, variables = {}) => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, String(value))
  return optionsOf({ stage }, quota)
}

afterEach(() => vi.unstubAllEnvs())

describe('a deploy', () => {
  it('to production says what it lacks on a new account', () => {
    const { notices, alarms, ticks } = options('production', 10)
    expect(Object.keys(notices)).toEqual(['noticeOfDomain', 'noticeOfTicks', 'noticeOfAlarms'])
    expect(alarms.on).toBe(true)
    expect(ticks).toBeUndefined()
  })

  it('that lacks nothing says nothing', () => {
    const all = { ESPALIER_DOMAIN: 'tools.example.com', ESPALIER_ALARM_EMAIL: 'ops@example.com' }
    expect(options('production', 1_000, all)).toEqual({
      domain: { name: 'tools.example.com' },
      alarms: { on: true, email: 'ops@example.com' },
      ticks: 499,
      notices: {},
    })
  })

  it('of a personal stage has nothing that costs, and says nothing of it', () => {
    const { alarms, ticks, notices } = options('ada', 10)
    expect({ alarms, ticks, notices }).toEqual({ alarms: { on: false }, notices: {} })
  })
})
