import { describe, expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import {
  checkNames,
  functionComponent,
  functionName,
  MAX_FUNCTION_NAME_CHARS,
  prefixOf,
  routeComponent,
} from '../../../lib/deploy/names.ts'
import { loadFunction } from '../../../scripts/load-function.ts'

const table = await routeTable()
const prefix = prefixOf({ name: 'espalier', stage: 'production' })
const spec = (name: string) => ({
  name,
  module: 'workflow/park',
  reach: [],
  memoryMb: 128,
  timeoutSeconds: 3,
})

describe('the route table', () => {
  it('can be deployed as it stands', () => {
    expect(() => checkNames(table, prefix)).not.toThrow()
  })

  it.each(table.functions)(
    'names a module for $name that exports its handler',
    async ({ module }) => {
      expect(await loadFunction(module)).toHaveProperty('handler', expect.any(Function))
    },
  )
})

describe('a name', () => {
  it('may have as many characters as Lambda takes, and not one more', () => {
    const longest = 'a'.repeat(MAX_FUNCTION_NAME_CHARS - prefix.length)
    expect(functionName(prefix, spec(longest))).toHaveLength(MAX_FUNCTION_NAME_CHARS)
    expect(() => functionName(prefix, spec(`${longest}a`))).toThrow(
      /"espalier-production-a+" has 65 characters in its name; Lambda takes 64/,
    )
  })

  it('becomes that of a component in letters and digits', () => {
    expect(functionComponent({ name: 'tool-media-get_public_url' })).toBe('ToolMediaGetPublicUrl')
    expect(routeComponent({ method: 'GET', path: '/api/v1/tool-calls/{id}' })).toBe(
      'GetApiV1ToolCallsId',
    )
  })

  it('is refused where two functions or routes would share it', () => {
    const twins = [spec('tool-a_b-c'), spec('tool-a-b_c')]
    expect(() => checkNames({ functions: twins, routes: [], schedules: [] }, prefix)).toThrow(
      'the function "ToolABC"',
    )
    const route = { method: 'GET', path: '/x', functionName: 'park' }
    expect(() =>
      checkNames({ functions: [spec('park')], routes: [route, route], schedules: [] }, prefix),
    ).toThrow('the route "GetX"')
  })

  it('of a function that is not there is refused in routes and schedules', () => {
    const missing = { functionName: 'missing' }
    const route = { method: 'GET', path: '/x', ...missing }
    const schedule = { name: 'x', rateMinutes: 1, ...missing }
    for (const part of [{ routes: [route] }, { schedules: [schedule] }])
      expect(() =>
        checkNames({ functions: [], routes: [], schedules: [], ...part }, prefix),
      ).toThrow('There is no function "missing"')
  })
})
