import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasCode } from '../../../../lib/core/errors.ts'
import {
  type Adapted,
  adapt,
  DIALECTS,
  type Dialect,
  type JsonSchema,
} from '../../../../lib/tool/dialect/adapt.ts'
import { strayWords } from './documented.ts'
import { toolSchemas } from './schemas.ts'
import { argumentsOf, spoiled, validatorOf } from './values.ts'

/** Enough to keep the suite short; the generators were run with many times as many. */
const RUNS = 150

const attempt = (dialect: Dialect, schema: JsonSchema): Adapted | undefined => {
  try {
    return adapt(dialect, schema)
  } catch (error) {
    if (hasCode(error, 'INVALID_DEFINITION')) return undefined
    throw error
  }
}

const cases = toolSchemas.chain(schema =>
  fc.record({
    schema: fc.constant(schema),
    samples: fc.array(argumentsOf(schema), { minLength: 4, maxLength: 4 }),
  }),
)

describe.each(DIALECTS)('the dialect of %s', dialect => {
  test('has no word that the provider does not document, and no combination at its root', () => {
    fc.assert(
      fc.property(toolSchemas, schema => {
        const adapted = attempt(dialect, schema)
        if (!adapted) return
        expect(strayWords(dialect, adapted.schema)).toEqual([])
        expect(adapted.schema.type).toBe('object')
        for (const word of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', '$ref'])
          expect(adapted.schema).not.toHaveProperty(word)
      }),
      { numRuns: RUNS },
    )
  })

  test('takes valid arguments there and back unchanged, and they are valid there', () => {
    let valid = 0
    fc.assert(
      fc.property(cases, ({ schema, samples }) => {
        const adapted = attempt(dialect, schema)
        const isValid = validatorOf(schema)
        const good = samples.filter(values => isValid(values))
        // A schema is refused only where it has no valid arguments.
        if (!adapted) return good.length === 0
        const isValidThere = validatorOf(adapted.schema)
        valid += good.length
        for (const values of good) {
          const wire = adapted.toWire(values)
          expect(adapted.fromWire(wire)).toEqual(values)
          expect({ wire, errors: isValidThere(wire) ? [] : isValidThere.errors }).toEqual({
            wire,
            errors: [],
          })
        }
        return true
      }),
      { numRuns: RUNS },
    )
    expect(valid).toBeGreaterThan(RUNS / 4)
  })

  test('makes nothing valid that a model got wrong', () => {
    const broken = cases.chain(({ schema, samples }) =>
      fc.record({ schema: fc.constant(schema), values: fc.oneof(...samples.map(spoiled)) }),
    )
    fc.assert(
      fc.property(broken, ({ schema, values }) => {
        const adapted = attempt(dialect, schema)
        if (!adapted) return
        const back = adapted.fromWire(values)
        // Aliases of names are the wire's own; in strict mode, so is null for what is absent.
        const isRenamed = adapted.notes.some(note => note.includes(' stands for "'))
        if (!isRenamed && !adapted.strict) expect(back).toEqual(values)
        if (!isRenamed) expect(withoutNulls(back)).toEqual(withoutNulls(values))
        expect(Object.values(withoutNulls(back))).toEqual(Object.values(withoutNulls(values)))
      }),
      { numRuns: RUNS },
    )
  })

  test('says the same each time, leaves its input alone, and has nothing to add to its output', () => {
    fc.assert(
      fc.property(toolSchemas, schema => {
        const before = structuredClone(schema)
        const adapted = attempt(dialect, schema)
        expect(schema).toEqual(before)
        if (!adapted) return
        const again = adapt(dialect, schema)
        expect(JSON.stringify(again)).toBe(JSON.stringify(adapted))
        const twice = adapt(dialect, adapted.schema)
        expect(JSON.stringify(twice.schema)).toBe(JSON.stringify(adapted.schema))
        expect(twice.strict).toBe(adapted.strict)
      }),
      { numRuns: RUNS },
    )
  })
})

const withoutNulls = (value: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(value), (_, part) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).filter(([, inner]) => inner !== null))
  })
