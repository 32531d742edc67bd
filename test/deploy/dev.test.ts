import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routeTable } from '../../functions/routes.ts'
import { functionComponent } from '../../lib/deploy/names.ts'
import { synthesisOf } from './stages.ts'
import { createBuilder, handlerFile } from './synth/build-function.ts'
import type { Synthesis } from './synth/synthesis.ts'
import { ROOT } from './synth/synthesize.ts'

const { functions: specs } = await routeTable()
const work = mkdtempSync(path.join(os.tmpdir(), 'dev-'))
let dev: Synthesis

beforeAll(async () => {
  dev = await synthesisOf('dev')
})
afterAll(() => rmSync(work, { recursive: true, force: true }))

describe('`sst dev`', () => {
  it('evaluates to its end, and has nothing bundled yet', () => {
    expect(dev.errors).toEqual([])
    expect(dev.builds).toEqual([])
  })

  it('runs each function from its module, as SST bundles it when it is first called', () => {
    const targets = dev.targets.map(({ functionID, handler, bundle }) => [
      functionID,
      handler,
      bundle,
    ])
    const expected = specs.map(spec => [
      functionComponent(spec),
      `functions/${spec.module}.handler`,
      undefined,
    ])
    expect(targets.sort()).toEqual(expected.sort())
    for (const { handler } of dev.targets) expect(handlerFile(ROOT, handler)).toBeDefined()
  })

  it.each([...new Set(specs.map(({ module }) => module))])('can bundle %s', async module => {
    const target = dev.targets.find(({ handler }) => handler === `functions/${module}.handler`)
    if (!target) throw new Error(`Nothing runs ${module}.`)
    const { errors } = await createBuilder({ root: ROOT, work, replaced: {} })(target)
    expect(errors).toEqual([])
  })
})
