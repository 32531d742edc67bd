import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import { checkTable } from '../../../lib/deploy/check-table.ts'
import type { FunctionSpec, Reach } from '../../../lib/http/route-table.ts'

const table = await routeTable()
const spec: FunctionSpec = {
  name: 'tool-plot-draw',
  module: 'tools/plot',
  reach: ['floor'],
  memoryMb: 128,
  timeoutSeconds: 3,
  tool: 'plot',
}
const route = (method: string, path: string) => ({ method, path, functionName: 'x' })
const check = ({
  routes = [],
  functions = [],
}: {
  routes?: ReturnType<typeof route>[]
  functions?: FunctionSpec[]
}) => {
  return () => checkTable({ functions, routes }, path => path === 'functions/tools/plot.ts')
}

describe('the table of a deploy', () => {
  it('is taken as it stands', () => {
    expect(() => checkTable(table, existsSync)).not.toThrow()
  })

  it.each([
    ['/x/{id}', '/x/{id}'],
    ['/x/{id}', '/x/{name}'],
    ['/x/{id}/y/{other}', '/x/{a}/y/{b}'],
  ])('is refused where %s and %s answer the same requests', (one, other) => {
    expect(check({ routes: [route('GET', one), route('GET', other)] })).toThrow(
      `The routes "GET ${one}" and "GET ${other}" (x) answer the same requests`,
    )
  })

  it('may have one path for several methods, and paths that differ', () => {
    const routes = [
      route('GET', '/x/{id}'),
      route('PUT', '/x/{id}'),
      route('GET', '/x/{id}/y'),
      route('GET', '/x/all'),
    ]
    expect(check({ routes })).not.toThrow()
  })

  it('is refused where a tool would touch what nobody knows', () => {
    expect(check({ functions: [spec] })).not.toThrow()
    const reach = ['floor', 'databse'] as unknown as Reach[]
    expect(check({ functions: [{ ...spec, reach }] })).toThrow(
      'The tool "plot" is to touch what nobody knows: "databse", in the reach of "tool-plot-draw"',
    )
  })

  it('is refused where a function’s module is missing', () => {
    expect(check({ functions: [{ ...spec, module: 'tools/plots' }] })).toThrow(
      'The function "tool-plot-draw" is to run functions/tools/plots.ts, and there is no such file.',
    )
  })
})
