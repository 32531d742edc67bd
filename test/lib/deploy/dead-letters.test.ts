import { describe, expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import { DEAD_LETTER_SECONDS, eventRulesOf } from '../../../lib/deploy/dead-letters.ts'
import { permissionsOf } from '../../../lib/deploy/permissions.ts'
import { allows, targetsOf } from './iam.ts'

const { functions, schedules } = await routeTable()
const taking = functions.filter(spec => eventRulesOf(spec) !== undefined)

describe('dead letters', () => {
  it('are what operations, wakes, notices and scheduled functions can’t handle', () => {
    // Whoever sends events: ticks, approvals and the sweeper to operations, and all to the other two.
    const expected = functions
      .filter(({ reach }) => reach.includes('floor'))
      .map(({ name }) => name)
    const scheduled = schedules.map(({ functionName }) => functionName)
    expect(taking.map(({ name }) => name).sort()).toEqual(
      [...expected, 'wake', 'notify', ...scheduled].sort(),
    )
  })

  it.each(taking)('of $name follow tries and ages that Lambda takes', spec => {
    const { retries, maxAgeSeconds } = eventRulesOf(spec) ?? { retries: -1, maxAgeSeconds: 0 }
    expect([0, 1, 2]).toContain(retries)
    expect(maxAgeSeconds).toBeGreaterThanOrEqual(60)
    expect(maxAgeSeconds).toBeLessThanOrEqual(6 * 3_600)
    expect(Number.isInteger(maxAgeSeconds)).toBe(true)
  })

  it.each(functions)('are written by $name only if it takes events, to the one queue', spec => {
    const statements = permissionsOf(spec, targetsOf(spec.name))
    const { deadLetters } = targetsOf('')
    const sends = eventRulesOf(spec) !== undefined
    expect(allows(statements, { action: 'sqs:SendMessage', resource: deadLetters })).toBe(sends)
    expect(allows(statements, { action: 'sqs:SendMessage', resource: `${deadLetters}-2` })).toBe(
      false,
    )
    for (const action of ['sqs:ReceiveMessage', 'sqs:DeleteMessage'])
      expect(allows(statements, { action, resource: deadLetters })).toBe(false)
  })

  it('are kept as long as SQS keeps anything', () => {
    expect(DEAD_LETTER_SECONDS).toBe(1_209_600)
  })

  it('come of a notice only when the sweeper hands it on again', () => {
    expect(eventRulesOf({ name: 'notify', reach: ['notify'] })?.maxAgeSeconds).toBe(300)
  })
})
