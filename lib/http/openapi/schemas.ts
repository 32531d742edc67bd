import * as z from 'zod'
import { AppError } from '../../core/errors.ts'

/** A JSON Schema, or any other object of the document. */
export type Json = Record<string, unknown>

export type Schemas = {
  /** What has a name of its own, for `components/schemas`. */
  components: Json
  /** What a schema takes (`input`) or gives, with references to what has a name. */
  of: (schema: z.ZodType, io: 'input' | 'output') => Json
  /** A JSON Schema of someone else's; what it defines is named after its owner. */
  foreign: (schema: Json, owner: string) => Json
}

/** Collects the schemas of one document. Throws INVALID_DEFINITION where two share a name. */
export const createSchemas = (): Schemas => {
  const components: Json = {}
  const define = (name: string, schema: Json) => {
    const known = components[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new AppError('INVALID_DEFINITION', `Two schemas are named "${name}": rename one.`)
    components[name] = schema
  }
  const hoist = ({ $defs = {}, $schema: _, ...schema }: Json, nameOf: (name: string) => string) => {
    for (const [name, definition] of Object.entries($defs as Json))
      define(nameOf(name), redirect(definition, nameOf) as Json)
    return redirect(schema, nameOf) as Json
  }
  return {
    components,
    of: (schema, io) => {
      // A named schema is a reference only where it stands in another one.
      const emitted = z.toJSONSchema(z.object({ schema }), {
        io,
        unrepresentable: 'any',
        override: loosen(io),
      })
      const { properties } = hoist(emitted as Json, name => name)
      return (properties as { schema: Json }).schema
    },
    foreign: (schema, owner) => hoist(schema, name => `${owner}.${name}`),
  }
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>

/**
 * What a schema says beyond what holds for whoever reads it: a later version's answers may have
 * more fields, blanks around a text don't count, of a time `format` says enough, and that a whole
 * number is one that JavaScript can count to goes without saying.
 */
const loosen =
  (io: 'input' | 'output'): Override =>
  ({ zodSchema, jsonSchema }) => {
    if (io === 'output' && jsonSchema.additionalProperties === false)
      delete jsonSchema.additionalProperties
    if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    const { checks = [] } = zodSchema._zod.def
    if (checks.some(({ _zod }) => _zod.def.check === 'overwrite')) delete jsonSchema.maxLength
  }

/** The same value with each reference leading to where its target is now. */
const redirect = (value: unknown, nameOf: (name: string) => string): unknown => {
  if (Array.isArray(value)) return value.map(item => redirect(item, nameOf))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const target = key === '$ref' && /^#\/\$defs\/(.+)$/.exec(String(item))?.[1]
      return [key, target ? `#/components/schemas/${nameOf(target)}` : redirect(item, nameOf)]
    }),
  )
}
