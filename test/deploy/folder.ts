import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { prepareBundles } from '../../lib/deploy/prepare-bundles.ts'
import { BUNDLED, ROOT } from './synth/synthesize.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the syntheses of this run are kept, for all test files. */
    syntheses: string
  }
}

/** Bundles what is deployed, as a deploy has it done, once for all syntheses. */
export const setup = async ({ provide }: TestProject) => {
  await prepareBundles(ROOT, BUNDLED)
  const folder = mkdtempSync(path.join(os.tmpdir(), 'syntheses-'))
  provide('syntheses', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
