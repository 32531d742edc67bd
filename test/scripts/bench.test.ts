import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { tools } from '../../functions/tools/index.ts'
import { DIALECTS } from '../../lib/tool/dialect/adapt.ts'
import { type Figures, report } from '../../scripts/bench/report.ts'
import { hasGrown, MAX_GROWTH } from '../../scripts/bench/tasks/children.ts'
import { costOf } from '../../scripts/bench/tasks/cost.ts'
import type { TaskFigures } from '../../scripts/bench/tasks/measure.ts'
import { reportTasks } from '../../scripts/bench/tasks/report.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const run = (script: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [path.join(ROOT, 'scripts', script), ...args])

/** What a figure may be at all: how fast a machine is, no test says. */
const positive = z.number().positive()
const compared = z.strictObject({ own: positive, bare: positive, ratio: positive })

const Shape = z.strictObject({
  node: z.string(),
  rounds: z.literal(1),
  schemas: z.strictObject({
    operations: z.literal(500),
    defineMs: compared,
    emitMs: compared,
    heapBytes: compared,
    dialectMs: z.record(z.enum(DIALECTS), compared),
  }),
  calls: z.strictObject({
    httpMs: compared,
    loopMs: z.strictObject({ own: positive, peer: z.literal(0.13), ratio: positive }),
  }),
  settings: z.strictObject({
    keys: z.literal(100),
    passwords: z.literal(10),
    resolveMs: positive,
    openMs: positive,
  }),
  functions: z.strictObject({
    bare: z.strictObject({
      name: z.literal('bare'),
      kib: positive,
      importMs: positive,
      togetherMs: positive,
    }),
    tools: z.array(
      z.strictObject({
        name: z.string(),
        kib: positive,
        importMs: positive,
        togetherMs: positive.nullable(),
        ratios: z.strictObject({ kib: positive, import: positive, together: positive.nullable() }),
      }),
    ),
  }),
})

describe('the bench', () => {
  let figures: Figures
  beforeAll(async () => {
    const { stdout } = await run('bench.ts', '--quick', '--json')
    figures = JSON.parse(stdout)
  }, 180_000)

  it('prints figures of everything as JSON', () => {
    expect(Shape.parse(figures)).toEqual(figures)
  })

  it('measures every built-in tool, and those that need no network with a call', () => {
    expect(figures.functions.tools.map(({ name }) => name)).toEqual(Object.keys(tools))
    const called = figures.functions.tools.filter(({ togetherMs }) => togetherMs !== null)
    expect(called.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['time', 'calculator', 'user_info', 'media']),
    )
  })

  it('says that the ratio of two figures is one divided by the other', () => {
    const { defineMs, heapBytes } = figures.schemas
    for (const { own, bare, ratio } of [defineMs, heapBytes, figures.calls.httpMs])
      expect(ratio).toBeCloseTo(own / bare, 9)
  })

  it('says the same as text', () => {
    const text = report(figures)
    expect(text).toContain('500 operations')
    expect(text).toContain('100 settings of one tool')
    expect(text).toContain(`${figures.calls.httpMs.ratio.toFixed(2)}×`)
    expect(text).toContain("leanest peer's loop without a gate: 0.13 ms")
    for (const name of [...DIALECTS, ...Object.keys(tools)]) expect(text).toContain(name)
  })
})

const Used = z.strictObject({
  requests: positive,
  // Two runs of the rest may differ by more than what is measured takes, here and below.
  waitedMs: z.number(),
  readUnits: positive,
  writeUnits: positive,
  stateTransitions: z.number().nonnegative(),
  invocations: positive,
  gbSeconds: z.number(),
  s3Requests: z.literal(0),
  byCommand: z.record(z.string(), z.number()),
})

const TaskShape = z.strictObject({
  node: z.string(),
  steps: z.strictObject({
    steps: z.literal(20),
    tasks: z.int().positive(),
    p50Ms: compared,
    p75Ms: compared,
    perStep: Used,
    perTask: Used,
    whole: Used,
    bare: z.strictObject({ ms: positive, bytes: positive }),
  }),
  approval: Used,
  children: z.strictObject({
    childMs: positive,
    families: z.array(
      z.strictObject({
        children: z.int().positive(),
        conflicts: z.boolean(),
        ms: z.number(),
        msPerChild: z.number(),
        perChild: Used,
      }),
    ),
    growth: z.strictObject({ plain: z.number(), conflicts: z.number() }),
  }),
  cost: z.strictObject({
    own: z.strictObject({
      dynamodb: positive,
      stepFunctions: positive,
      lambda: positive,
      s3: z.literal(0),
      total: positive,
    }),
    durable: z.strictObject({
      count: z.literal(42),
      operations: positive,
      data: positive,
      lambda: positive,
      total: positive,
    }),
    ratio: positive,
  }),
})

describe('the bench of tasks', () => {
  let figures: TaskFigures
  beforeAll(async () => {
    const { stdout } = await run('bench.ts', 'tasks', '--quick', '--json')
    figures = JSON.parse(stdout)
  }, 300_000)

  it('prints figures of steps, an approval, children and money as JSON', () => {
    expect(TaskShape.parse(figures)).toEqual(figures)
  })

  it('counts per step, per approval and per child, as the tests of the tasks’ cost do exactly', () => {
    const { steps, approval, children } = figures
    // A busy machine's tick renews its lease now and then, and a parent may look once more.
    expect(steps.perStep.requests).toBeCloseTo(11, 0)
    expect(steps.perStep.stateTransitions).toBe(0)
    expect(approval).toMatchObject({ requests: 16, stateTransitions: 3 })
    for (const { perChild } of children.families)
      expect(perChild.stateTransitions).toBeCloseTo(3, 0)
  })

  it('counts what is refused for a conflict as well', () => {
    const most = (conflicts: boolean) =>
      figures.children.families.findLast(family => family.conflicts === conflicts)?.perChild
    expect(most(true)?.requests).toBeGreaterThan(most(false)?.requests ?? Number.NaN)
  })

  it('says the same as text', () => {
    const text = reportTasks(figures)
    expect(text).toContain(`${figures.steps.p50Ms.ratio.toFixed(2)}×`)
    expect(text).toContain(`${figures.cost.ratio.toFixed(2)}×`)
    expect(text).toMatch(/16: .* requests and [\d.]+ transitions a child/)
    expect(text).toMatch(/64 with 10 % conflicts: /)
  })
})

describe('what the bench of tasks makes of its figures', () => {
  it('fails where a child makes over a tenth more requests, or where nothing was counted', () => {
    const growth = (plain: number, conflicts: number) => hasGrown({ growth: { plain, conflicts } })
    expect(growth(MAX_GROWTH, MAX_GROWTH)).toBe(false)
    expect(growth(-0.5, 0)).toBe(false)
    expect(growth(MAX_GROWTH + 0.001, 0)).toBe(true)
    expect(growth(0, MAX_GROWTH + 0.001)).toBe(true)
    expect(growth(Number.NaN, 0)).toBe(true)
  })

  it('bills a task by the list, and a durable function for its start, each request and each call', () => {
    const used = {
      requests: 0,
      waitedMs: 0,
      readUnits: 8_000_000,
      writeUnits: 1_600_000,
      stateTransitions: 40_000,
      invocations: 5_000_000,
      gbSeconds: 0,
      s3Requests: 200_000,
      byCommand: {},
    }
    const bare = { ms: 0, bytes: 4 * 1_024 ** 3 }
    const { own, durable, ratio } = costOf(used, { steps: 20, bare })
    const dollars = { dynamodb: 2, stepFunctions: 1, lambda: 1, s3: 1, total: 5 }
    for (const [part, cost] of Object.entries(dollars))
      expect(own[part as keyof typeof own]).toBeCloseTo(cost, 9)
    expect(durable).toMatchObject({ count: 42 })
    expect(durable.operations).toBeCloseTo(42 * 0.000_008, 9)
    expect(durable.data).toBeCloseTo(4 * (0.25 + (0.15 * 14) / 30), 9)
    expect(ratio).toBeCloseTo(own.total / durable.total, 9)
  })
})

describe('the bench with something that it does not have', () => {
  it.each([[['--jsno']], [['steps']], [['tasks', 'tasks']]])(
    'says what there is, and fails: %s',
    async args => {
      await expect(run('bench.ts', ...args)).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining('Usage: npm run bench [-- [tasks] [--json] [--quick]]'),
      })
    },
  )
})

describe('the bench of a cold start', () => {
  it('compares starts of functions with the bare libraries', async () => {
    const { stdout } = await run('bench/cold-start.ts', '1')
    const [bare, ...lines] = stdout.trim().split('\n')
    expect(bare).toMatch(/^bare +\d+ of +\d+ KiB .* 1\.00 of bare$/)
    expect(lines.pop()).toBe('medians of 1 fresh processes each')
    expect(lines.length).toBeGreaterThan(8)
    for (const line of lines)
      expect(line).toMatch(/^.+ \d+ of +\d+ KiB +import +\d+ ms .* \d+\.\d\d of bare$/)
  }, 60_000)
})
