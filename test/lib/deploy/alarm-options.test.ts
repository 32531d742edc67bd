import { describe, expect, it } from 'vitest'
import { readAlarmOptions } from '../../../lib/deploy/alarm-options.ts'

const email = 'operators@example.com'
const read = (isProduction: boolean, ESPALIER_ALARMS?: string, ESPALIER_ALARM_EMAIL?: string) =>
  readAlarmOptions({ ESPALIER_ALARMS, ESPALIER_ALARM_EMAIL }, { isProduction })

describe('alarms', () => {
  it('are production’s, unless they are off, which the deploy says', () => {
    expect(read(true, '', email)).toEqual({ on: true, email })
    expect(read(true, 'off', email)).toEqual({ on: false, notice: expect.stringContaining('off') })
  })

  it('cost a personal stage nothing unless it asks for them', () => {
    expect(read(false)).toEqual({ on: false })
    expect(read(false, '', email)).toEqual({ on: false })
    expect(read(false, 'on', email)).toEqual({ on: true, email })
  })

  it('that nobody is told of are said to be so', () => {
    expect(read(true).notice).toContain('Nobody is told of alarms: set ESPALIER_ALARM_EMAIL')
  })

  it.each(['yes', 'ON', 'true'])('are refused as "%s"', asked => {
    expect(() => read(true, asked)).toThrow(
      `ESPALIER_ALARMS is "${asked}"; it must be "on" or "off"`,
    )
  })

  it.each(['operators', 'a@example.com,b@example.com'])('are not told to "%s"', to => {
    expect(() => read(true, '', to)).toThrow(`ESPALIER_ALARM_EMAIL is "${to}"`)
  })
})
