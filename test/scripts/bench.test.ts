import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { tools } from '../../functions/tools/index.ts'
import { DIALECTS } from '../../lib/tool/dialect/adapt.ts'
import { type Figures, report } from '../../scripts/bench/report.ts'

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

describe('the bench with an option that it does not have', () => {
  it('says which ones there are, and fails', async () => {
    await expect(run('bench.ts', '--jsno')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Usage: npm run bench [-- --json] [-- --quick]'),
    })
  })
})

describe('the bench of a cold start', () => {
  it('compares one function with the bare libraries', async () => {
    const { stdout } = await run('bench/cold-start.ts', '1')
    expect(stdout).toMatch(
      /^bare +\d+ KiB .*\ntime now +\d+ KiB .*\nratio \d+\.\d\d over 1 runs each\n$/,
    )
  }, 60_000)
})
