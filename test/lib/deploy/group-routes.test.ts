import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  GATEWAY_ROUTES_VARIABLE,
  gatewayQuota,
  gatewayReport,
  gatewayUse,
  groupRoutes,
  MAX_GATEWAY_INTEGRATIONS,
  MAX_GATEWAY_ROUTES,
} from '../../../lib/deploy/group-routes.ts'
import { checkNames, MAX_FUNCTION_NAME_CHARS, prefixOf } from '../../../lib/deploy/names.ts'
import { permissionsOf } from '../../../lib/deploy/permissions.ts'
import type { FunctionSpec, Route, RouteTable } from '../../../lib/http/route-table.ts'
import { targetsOf } from './iam.ts'

const specOf = (name: string, more: Partial<FunctionSpec> = {}): FunctionSpec => ({
  name,
  module: 'admin/x',
  reach: [],
  memoryMb: 128,
  timeoutSeconds: 29,
  ...more,
})

/** A table of tools with so many operations each, and of so many other functions with a route each. */
const tableOf = (tools: Record<string, number>, others = 0): RouteTable => {
  const operations = Object.entries(tools).flatMap(([tool, count]) =>
    Array.from({ length: count }, (_, index) => ({
      spec: specOf(`tool-${tool}-o${index}`, { tool, module: `tools/${tool}`, reach: ['floor'] }),
      path: `/api/v1/tools/${tool}/operations/o${index}`,
    })),
  )
  const rest = Array.from({ length: others }, (_, index) => specOf(`admin-a${index}`))
  return {
    functions: [...operations.map(({ spec }) => spec), ...rest],
    routes: [
      ...operations.map(({ spec, path }) => ({ method: 'POST', path, functionName: spec.name })),
      ...rest.map(({ name }) => ({ method: 'GET', path: `/${name}`, functionName: name })),
    ],
    schedules: [],
  }
}

const groupsOf = (table: RouteTable) => table.functions.filter(({ name }) => /^tools-/.test(name))

/** Who answers a request, as a gateway decides: the route that says the path itself comes first. */
const answering = ({ routes }: RouteTable, { method, path }: Route): string | undefined => {
  const patterns = routes.filter(route => route.method === method)
  const exact = patterns.find(route => route.path === path)
  const matching = patterns.find(route =>
    new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )
  return (exact ?? matching)?.functionName
}

describe('a table of routes', () => {
  it('stays as it is up to what a gateway takes, and not one route further', () => {
    const full = tableOf({ big: 100, small: 50 }, MAX_GATEWAY_ROUTES - 150)
    expect(groupRoutes(full)).toBe(full)
    const over = tableOf({ big: 100, small: 50 }, MAX_GATEWAY_ROUTES - 149)
    const grouped = groupRoutes(over)
    expect(groupsOf(grouped).map(({ name }) => name)).toEqual(['tools-big'])
    expect(gatewayUse(grouped).routes).toBe(MAX_GATEWAY_ROUTES + 1 - 100 + 1)
  })

  it('groups one tool after the other, the largest first', () => {
    const grouped = groupRoutes(tableOf({ one: 1, ten: 10, twenty: 20, five: 5 }, 280))
    expect(groupsOf(grouped).map(({ name }) => name)).toEqual(['tools-twenty'])
    const more = groupRoutes(tableOf({ one: 1, ten: 10, twenty: 20, five: 5 }, 290))
    expect(groupsOf(more).map(({ name }) => name)).toEqual(['tools-twenty', 'tools-ten'])
  })

  it('does not count what streams past the gateway', () => {
    const table = tableOf({ big: 2 }, MAX_GATEWAY_ROUTES - 2)
    const streaming = specOf('stream', { streams: true })
    const route = { method: 'GET', path: '/stream', functionName: 'stream' }
    const all = {
      ...table,
      functions: [...table.functions, streaming],
      routes: [...table.routes, route],
    }
    expect(groupRoutes(all)).toBe(all)
  })

  it('keeps every function, and has each request answered by one of its tool’s module', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 25, max: 400 }), (counts, quota) => {
        const tools = Object.fromEntries(counts.map((count, index) => [`t${index}`, count]))
        const table = tableOf(tools, 3)
        const grouped = groupRoutes(table, quota)
        expect(gatewayUse(grouped).routes).toBeLessThanOrEqual(quota)
        const after = new Map(grouped.functions.map(spec => [spec.name, spec]))
        const before = new Map(table.functions.map(spec => [spec.name, spec]))
        for (const [name, spec] of before) expect(after.get(name)).toBe(spec)
        for (const route of table.routes) {
          const was = before.get(route.functionName)
          const is = after.get(answering(grouped, route) ?? '')
          expect([is?.module, is?.tool]).toEqual([was?.module, was?.tool])
        }
        checkNames(grouped, 'espalier-production-')
      }),
    )
  })

  it('that is too large with every tool grouped says what to do', () => {
    const others = MAX_GATEWAY_ROUTES - 1
    expect(() => groupRoutes(tableOf({ a: 9, b: 9 }, others), 300)).toThrow(
      `the API has ${others + 2} routes and ${others + 2} integrations; the gateway takes 300 and 300. Have AWS raise "Routes per API"`,
    )
    expect(() => groupRoutes(tableOf({ a: 9 }, others), 300)).not.toThrow()
  })

  it('may have more routes by a raised quota, and never more integrations', () => {
    const table = tableOf({ a: 1, b: 1 }, MAX_GATEWAY_INTEGRATIONS - 2)
    const twice = { ...table, routes: table.routes.flatMap(route => [route, and(route)]) }
    expect(gatewayUse(twice)).toEqual({ routes: 600, integrations: 300 })
    expect(groupRoutes(twice, 600)).toBe(twice)
    expect(() => groupRoutes(tableOf({}, MAX_GATEWAY_INTEGRATIONS + 1), 10_000)).toThrow(
      'raised for nobody',
    )
  })
})

const and = (route: Route): Route => ({ ...route, path: `${route.path}/more` })

describe('the function of a group', () => {
  const operation = (name: string, more: Partial<FunctionSpec>) =>
    specOf(`tool-many-${name}`, { tool: 'many', module: 'tools/many', reach: ['floor'], ...more })
  const functions = [
    operation('quick', { memoryMb: 256, timeoutSeconds: 14 }),
    operation('media', { reach: ['floor', 'media', 'bucket'], timeoutSeconds: 9 }),
    operation('long', {
      reach: ['floor', 'results', 'itself'],
      timeoutSeconds: 894,
      memoryMb: 512,
    }),
  ]
  const table = {
    functions,
    routes: functions.map(({ name }) => ({ method: 'POST', path: `/${name}`, functionName: name })),
    schedules: [],
  }
  const group = groupRoutes(table, 1).functions.at(-1) as FunctionSpec

  it('reaches what any of its operations does, and has the memory and time of the largest', () => {
    expect(group).toMatchObject({
      name: 'tools-many',
      module: 'tools/many',
      tool: 'many',
      reach: ['floor', 'media', 'bucket', 'results', 'itself'],
      memoryMb: 512,
      // A long operation only sends off what was asked for; no request takes longer than this.
      timeoutSeconds: 29,
    })
    const short = { ...table, functions: functions.slice(0, 2), routes: table.routes.slice(0, 2) }
    expect(groupRoutes(short, 1).functions.at(-1)).toMatchObject({ timeoutSeconds: 14 })
  })

  it('may invoke the functions of its long operations, and nothing else', () => {
    const targets = targetsOf(group.name)
    const invoked = permissionsOf(group, targets).filter(({ actions }) =>
      actions.includes('lambda:InvokeFunction'),
    )
    expect(invoked.map(({ resources }) => resources)).toEqual([
      [`${targets.functions}tool-many-long`],
    ])
  })

  it('has a name that fits wherever those of its operations do', () => {
    const prefix = prefixOf({ name: 'espalier', stage: 'production' })
    const tool = 'a'.repeat(MAX_FUNCTION_NAME_CHARS - prefix.length - 'tool--o1'.length)
    const grouped = groupRoutes(tableOf({ [tool]: 10 }), 1)
    expect(() => checkNames(grouped, prefix)).not.toThrow()
  })
})

describe('what a deploy is told', () => {
  it('says how many routes and integrations are left', () => {
    expect(gatewayReport(tableOf({ big: 100 }, 50), 300)).toBe(
      'The gateway has 150 of 300 routes and 150 of 300 integrations: 150 and 150 are left.',
    )
  })

  it('names the tools that were grouped', () => {
    const table = groupRoutes(tableOf({ big: 100, small: 5 }, 1), 50)
    expect(gatewayReport(table, 50)).toBe(
      'The gateway has 7 of 50 routes and 7 of 300 integrations: 43 and 293 are left. The operations of these tools have one route together: big.',
    )
  })
})

describe('the quota', () => {
  it('is AWS’s own unless it was raised', () => {
    expect([gatewayQuota(''), gatewayQuota('450')]).toEqual([MAX_GATEWAY_ROUTES, 450])
  })

  it.each(['many', '0', '-1', '3.5', '1e99'])('refuses "%s", naming the variable', text => {
    expect(() => gatewayQuota(text)).toThrow(`${GATEWAY_ROUTES_VARIABLE} must be a whole number`)
  })
})
