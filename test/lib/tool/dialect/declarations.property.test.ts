import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../../../lib/tool/define.ts'
import { adapt, DIALECTS, type JsonSchema } from '../../../../lib/tool/dialect/adapt.ts'
import { operationSchema, toolSchema } from '../../../../lib/tool/schema.ts'
import { strayWords } from './documented.ts'
import { argumentsOf, validatorOf } from './values.ts'

const tree: z.ZodType = z.lazy(() =>
  z.object({ label: z.string(), children: z.array(tree).optional() }),
)

const { parameter } = fc.letrec<{ parameter: z.ZodType }>(tie => ({
  parameter: fc.oneof(
    { maxDepth: 2, depthIdentifier: 'zod' },
    fc.constantFrom<z.ZodType[]>(
      ...[
        z.string(),
        z.string().min(2).max(9).describe('A text.'),
        z.email(),
        z.iso.datetime(),
        z.uuid(),
      ],
      ...[
        z.int().positive(),
        z.number().gt(0).lt(9),
        z.number().multipleOf(0.5),
        z.boolean(),
        z.null(),
      ],
      ...[z.enum(['x', 'y']), z.literal('x'), z.literal([1, 'two', true]), z.string().regex(/^x/)],
      ...[z.record(z.string(), z.int()), z.tuple([z.string(), z.int()]), z.unknown(), tree],
      z.tuple([z.string()], z.boolean()),
      z.record(z.enum(['x', 'y']), z.string()),
    ),
    tie('parameter').map(inner => inner.optional()),
    tie('parameter').map(inner => z.array(inner).min(1)),
    tie('parameter').map(inner => inner.nullable().describe('Or nothing.')),
    fc.tuple(tie('parameter'), tie('parameter')).map(options => z.union(options)),
    fc
      .dictionary(fc.constantFrom('a', 'b', 'c'), tie('parameter'), { maxKeys: 3 })
      .map(shape => z.object(shape)),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('parameter')).map(shape => z.strictObject(shape)),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('parameter')).map(shape => z.looseObject(shape)),
    fc
      .tuple(tie('parameter'), tie('parameter'))
      .map(([one, two]) =>
        z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('one'), value: one }),
          z.object({ kind: z.literal('two'), value: two.optional() }),
        ]),
      ),
    fc.constantFrom<z.ZodType[]>(
      z.int().default(5),
      z.string().default('x'),
      z.boolean().default(true),
    ),
  ),
}))

const parameters = fc.dictionary(fc.constantFrom('p', 'q', 'long_name'), parameter, { maxKeys: 3 })
const names = ['read', 'write', 'list']

const tools = fc.array(parameters, { minLength: 1, maxLength: 3 }).map(list =>
  defineTool({
    name: 'generated',
    description: 'Generated.',
    operations: Object.fromEntries(
      list.map((shape, at) => {
        // Operations that share a parameter's name would have to share its schema.
        const own = Object.entries(shape).map(
          ([name, schema]) => [`${name}_${at}`, schema] as const,
        )
        const operation = {
          description: `Does ${names[at]}.`,
          parameters: z.object(Object.fromEntries(own)),
          describe: () => '',
          execute: () => '',
        }
        return [names[at] ?? '', operation]
      }),
    ),
  }),
)

describe.each(DIALECTS)('a declared tool, at %s', dialect => {
  test('has its discriminator first, keeps its order, and takes its arguments there and back', () => {
    let valid = 0
    const cases = tools.chain(tool => {
      const enabled = Object.values(tool.operations)
      const schemas: JsonSchema[] = [toolSchema(tool, enabled), ...enabled.map(operationSchema)]
      return fc
        .constantFrom(...schemas)
        .chain(schema => fc.record({ schema: fc.constant(schema), values: argumentsOf(schema) }))
    })
    fc.assert(
      fc.property(cases, ({ schema, values }) => {
        const { schema: written, toWire, fromWire } = adapt(dialect, schema)
        expect(strayWords(dialect, written)).toEqual([])
        const order = Object.keys(written.properties as JsonSchema)
        expect(order).toEqual(Object.keys(schema.properties as JsonSchema))
        if (!validatorOf(schema)(values)) return
        valid++
        const wire = toWire(values)
        expect(fromWire(wire)).toEqual(values)
        const isValid = validatorOf(written)
        expect({ wire, errors: isValid(wire) ? [] : isValid.errors }).toEqual({ wire, errors: [] })
      }),
      { numRuns: 60 },
    )
    expect(valid).toBeGreaterThan(20)
  })
})
