import { routeTable } from '../../functions/routes.ts'
import { prefixOf } from '../../lib/deploy/names.ts'
import { exposureProblems } from './problems/exposure.ts'
import { functionProblems } from './problems/functions.ts'
import { idleProblems } from './problems/idle.ts'
import { keepingProblems } from './problems/keeping.ts'
import { roleProblems } from './problems/roles.ts'
import { routeProblems } from './problems/routes.ts'
import { secretProblems } from './problems/secrets.ts'
import { bucketProblems, tableProblems } from './problems/stores.ts'
import { machineProblems, scheduleProblems } from './problems/workflow.ts'
import { EXPECTED, SECRETS } from './stages.ts'
import type { Synthesis } from './synth/synthesis.ts'

const table = await routeTable()
const specs = table.functions
const { logDays, recovers } = EXPECTED.personal
const prefix = prefixOf({ name: 'espalier', stage: 'ada' })
const streams = [`${prefix}admin-task-stream`]

/** All that is wrong with a personal stage. */
export const problemsOf = (synthesis: Synthesis): string[] => [
  ...functionProblems(synthesis, { specs, prefix, logDays }),
  ...routeProblems(synthesis, { table, prefix }),
  ...roleProblems(synthesis, { specs, prefix }),
  ...exposureProblems(synthesis, { streams }),
  ...tableProblems(synthesis, { isProduction: false, recovers }),
  ...bucketProblems(synthesis),
  ...machineProblems(synthesis, { prefix }),
  ...scheduleProblems(synthesis, { table, prefix }),
  ...secretProblems(synthesis, SECRETS),
  ...keepingProblems(synthesis, { isProduction: false }),
  ...idleProblems(synthesis),
]
