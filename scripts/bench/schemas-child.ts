import { Hono } from 'hono'
import * as z from 'zod'
import { defineTool, type Tool } from '../../lib/tool/define.ts'
import { adapt, DIALECTS } from '../../lib/tool/dialect/adapt.ts'
import { toolSchema } from '../../lib/tool/schema.ts'
import { operationName, parametersOf, TOOLS, toolName } from './declarations.ts'
import type { SchemaSample } from './schemas.ts'

// Run in a process of its own with --expose-gc: what 500 operations cost, declared as tools
// ("espalier") or as routes of a bare Hono app with the same zod schemas ("bare").

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const timed = <T>(work: () => T): [number, T] => {
  const started = performance.now()
  const value = work()
  return [performance.now() - started, value]
}

const heapBytes = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const define = (tool: number): Tool =>
  defineTool({
    name: toolName(tool),
    description: `The tool ${tool}.`,
    operations: Object.fromEntries(
      parametersOf(tool).map((parameters, operation) => [
        operationName(operation),
        {
          description: `The operation ${operation}.`,
          parameters,
          describe: () => 'Search',
          execute: () => [],
        },
      ]),
    ),
  })

/** The first one pays for code that was never run: each round begins with another. */
const inTurn = (round: number) => [...DIALECTS.slice(round), ...DIALECTS.slice(0, round)]

const espalier = (round: number): SchemaSample => {
  const before = heapBytes()
  const [defineMs, tools] = timed(() => times(TOOLS, define))
  const [emitMs, schemas] = timed(() =>
    tools.map(tool => toolSchema(tool, Object.values(tool.operations))),
  )
  const bytes = heapBytes() - before
  const dialects = Object.fromEntries(
    inTurn(round % DIALECTS.length).map(dialect => [
      dialect,
      timed(() => schemas.map(schema => adapt(dialect, schema)))[0],
    ]),
  )
  return { defineMs, emitMs, bytes, dialects }
}

const bare = (): SchemaSample => {
  const before = heapBytes()
  const [defineMs, { schemas }] = timed(() => {
    const app = new Hono()
    const schemas = times(TOOLS, tool =>
      parametersOf(tool).map((schema, operation) => {
        app.post(`/tools/${toolName(tool)}/operations/${operationName(operation)}`, async context =>
          context.json(schema.parse(await context.req.json())),
        )
        return schema
      }),
    ).flat()
    return { app, schemas }
  })
  const [emitMs, emitted] = timed(() =>
    schemas.map(schema => z.toJSONSchema(schema, { io: 'input' })),
  )
  const bytes = heapBytes() - before
  // Kept alive until the heap was measured.
  if (emitted.length !== schemas.length) throw new Error('Some schemas are missing.')
  return { defineMs, emitMs, bytes, dialects: {} }
}

const [side, round] = process.argv.slice(2)
process.stdout.write(JSON.stringify(side === 'bare' ? bare() : espalier(Number(round))))
