import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { MISHAPS } from './mishaps.ts'
import type { Report } from './simulate.ts'

const SCRIPT = path.join(import.meta.dirname, '../../scripts/simulate.ts')
const SEEDS = 300
/** Both cores are busy with other tests. */
const PATIENCE_MS = 240_000

/** In processes of its own: in a test's, time and modules are not the simulation's to replace. */
const simulate = async (...args: string[]): Promise<string> => {
  const options = { maxBuffer: 64 * 1024 * 1024 }
  return promisify(execFile)(process.execPath, [SCRIPT, ...args], options).then(
    ({ stdout }) => stdout,
    // It ends with 1 where it found something: what it found is what the test tells.
    error => error.stdout || Promise.reject(error),
  )
}

describe('the simulation', () => {
  it(
    'finds nothing that was promised and not kept',
    async () => {
      const report = JSON.parse(await simulate('--seeds', String(SEEDS), '--json')) as Report
      expect(report.violations).toEqual([])
      expect(report.seeds).toBe(SEEDS)
      expect(report.replayed).toBeGreaterThan(0)
      // Enough to have met every kind of mishap, and to have been everywhere.
      expect(MISHAPS.filter(kind => !report.mishaps[kind]).length).toBeLessThan(4)
      for (const name of ['task COMPLETED', 'task CANCELLED', 'call settled', 'call EXPIRED'])
        expect(report.reached[name], name).toBeGreaterThan(0)
    },
    PATIENCE_MS,
  )

  it(
    'plays one seed as it was played among many, event by event',
    async () => {
      const [one, other] = await Promise.all([
        simulate('--seed', '17'),
        simulate('--seed', '17', '--after', '3'),
      ])
      expect(other).toBe(one)
      expect(one).toContain('enters Tick')
    },
    PATIENCE_MS,
  )
})
