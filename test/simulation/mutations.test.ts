import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { MUTATIONS } from './mutations.ts'
import type { Report } from './simulate.ts'

const SCRIPT = path.join(import.meta.dirname, '../../scripts/simulate.ts')
/** It stops at the first that fails, so that most take far fewer. */
const SEEDS = 1_500
/** Both cores are busy with other tests. */
const PATIENCE_MS = 300_000

const simulateBroken = async (name: string): Promise<Report> => {
  const args = [SCRIPT, '--seeds', String(SEEDS), '--bail', '--json', '--mutate', name]
  const { stdout } = await promisify(execFile)(process.execPath, args).catch(error =>
    // It ends with 1 where it found something.
    error.stdout ? error : Promise.reject(error),
  )
  return JSON.parse(stdout)
}

/** It takes minutes: what guards the main branch asks for it. */
const isAsked = process.env.SIMULATE_MUTATIONS === '1'

describe.runIf(isAsked)('the simulation notices', () => {
  it.each(Object.keys(MUTATIONS))(
    'code that is broken on purpose: %s',
    async name => {
      const { violations } = await simulateBroken(name)
      expect(violations).not.toEqual([])
    },
    PATIENCE_MS,
  )
})
