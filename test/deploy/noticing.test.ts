import { beforeAll, describe, expect, it } from 'vitest'
import { problemsOf } from './all-problems.ts'
import { EXPOSURE_FAULTS } from './spoiled/exposure.ts'
import { FUNCTION_FAULTS } from './spoiled/functions.ts'
import { ROLE_FAULTS } from './spoiled/roles.ts'
import { STORE_FAULTS } from './spoiled/stores.ts'
import { synthesisOf } from './stages.ts'
import type { Synthesis } from './synth/synthesis.ts'

// Whether what finds nothing would find something.

const FAULTS = [...FUNCTION_FAULTS, ...ROLE_FAULTS, ...EXPOSURE_FAULTS, ...STORE_FAULTS]

describe('a synthesis with a fault', () => {
  let sound: Synthesis
  beforeAll(async () => {
    sound = await synthesisOf('personal')
  })

  it('has none to begin with', () => {
    expect(problemsOf(sound)).toEqual([])
  })

  it.each(FAULTS)('is found out: %s', (_what, spoil, problem) => {
    const synthesis = structuredClone(sound)
    spoil(synthesis)
    expect(problemsOf(synthesis).join('\n')).toContain(problem)
  })
})
