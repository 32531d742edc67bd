import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invokeFunction } from '../../lib/aws/invoke-function.ts'
import { measureApproval } from '../../scripts/bench/tasks/approval.ts'
import { measureChildren } from '../../scripts/bench/tasks/children.ts'
import { openStage, type Stage } from '../../scripts/bench/tasks/stage.ts'
import { measureSteps, type StepFigures } from '../../scripts/bench/tasks/steps.ts'
import type { Used } from '../../scripts/bench/tasks/used.ts'
import { billOf, totalOf } from '../../scripts/costs/bill.ts'
import { COUNTS, type Counts } from '../../scripts/costs/counts.ts'
import { costTables, idleBill, KINDS } from '../../scripts/costs/tables.ts'
import { readPage } from '../docs/page.ts'

/** By how much a count may be off: rows are a little longer or shorter, and ticks meet or don't. */
const TOLERANCE = 0.1

const expectCounted = (used: Used | undefined, counts: Counts): void => {
  for (const name of ['readUnits', 'writeUnits'] as const) {
    const difference = Math.abs((used?.[name] ?? Number.NaN) - counts[name])
    expect(difference, `${name}: ${used?.[name]}`).toBeLessThanOrEqual(counts[name] * TOLERANCE)
  }
  for (const name of ['stateTransitions', 'invocations'] as const)
    expect(used?.[name], name).toBe(counts[name])
}

describe('what things cost is worked out from what they use', () => {
  let stage: Stage
  let steps: StepFigures
  beforeAll(async () => {
    stage = await openStage()
    steps = await measureSteps(stage, 1)
  })
  afterAll(() => stage?.close())

  it('of a step, and of a task beside its steps', () => {
    expectCounted(steps.perStep, COUNTS.step)
    expectCounted(steps.perTask, COUNTS.task)
  })

  it('of an approval', async () => {
    expectCounted(await measureApproval(stage), COUNTS.approval)
  })

  it('of a sub-agent', async () => {
    const { families } = await measureChildren(stage, [2, 8])
    expectCounted(families[0]?.perChild, COUNTS.child)
  })

  it('of the sweeper while there is nothing to do', async () => {
    const used = await stage.using(() => invokeFunction('sweep', {}, 'awaited'))
    expectCounted(used, COUNTS.sweep)
  })
})

describe('the tables of costs', () => {
  it('are those of the page', () => {
    expect(readPage('deploying.md')).toContain(costTables())
  })

  it('have a personal stage cost next to nothing while idle, and more for whoever does more', () => {
    expect(totalOf(idleBill({ alarms: false }))).toBeLessThan(0.5)
    const [one = Number.NaN, five, twenty] = KINDS.map(([, uses]) => totalOf(billOf(uses)))
    expect(one).toBeLessThan(five ?? 0)
    expect(five).toBeLessThan(twenty ?? 0)
  })
})
