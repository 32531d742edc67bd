import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the syntheses of this run are kept, for all test files. */
    syntheses: string
  }
}

export const setup = ({ provide }: TestProject) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'syntheses-'))
  provide('syntheses', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
