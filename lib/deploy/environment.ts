import type { ConfigVariable } from '../core/config.ts'
import type { FunctionSpec } from '../http/route-table.ts'
import { grantsOf } from './grants.ts'

/** What a deployment tells its functions. */
export type Variable = ConfigVariable

/** The variables that a function's reach asks for: what it can't reach, it isn't told of. */
export const variablesOf = (spec: Pick<FunctionSpec, 'reach' | 'tool'>): Variable[] => {
  const { reach } = spec
  const grants = grantsOf(spec)
  const needs: Record<Variable, boolean> = {
    ESPALIER_TABLE: grants.some(({ rows, lists }) => rows || lists),
    ESPALIER_BUCKET: grants.some(({ objects }) => objects),
    ESPALIER_STATE_MACHINE_ARN: reach.includes('workflow'),
    ESPALIER_FUNCTION_PREFIX: reach.includes('operations'),
    // The gate, which every operation passes, opens settings.
    ESPALIER_SETTINGS_KEYS: reach.includes('floor') || reach.includes('settings'),
    ESPALIER_LINK_KEYS: reach.includes('links'),
    ESPALIER_PUBLIC_URL: reach.includes('links'),
    // What operations fetch with is told which hosts inside they may reach.
    ESPALIER_FETCH_ALLOW: reach.includes('floor'),
  }
  return (Object.keys(needs) as Variable[]).filter(name => needs[name])
}
