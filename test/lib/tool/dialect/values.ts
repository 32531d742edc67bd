import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import fc from 'fast-check'
import type { JsonSchema } from '../../../../lib/tool/dialect/adapt.ts'
import type { Schema } from './schemas.ts'

const addFormats = addFormatsModule.default

const checker = new Ajv2020({ strict: false, logger: false })

/** A validator that is not ours, of the whole of 2020-12. Throws for what is no schema. */
export const validatorOf = (schema: Schema): ValidateFunction => {
  checker.validateSchema(schema, true)
  const ajv = new Ajv2020({
    ...{ strict: false, logger: false, ownProperties: true },
    ...{ validateSchema: false, meta: false },
  })
  addFormats(ajv)
  return ajv.compile(schema)
}

/** Names that no schema of `toolSchemas` declares, so that nobody has an opinion on them. */
const OTHER_NAMES = ['extra', 'other name', 'p_1']
const MAX_DEPTH = 5

const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown[]>('x', '', 'abc', 0, 1, 2.5, -1, true, null),
  fc.constantFrom<unknown[]>([], {}, ['x'], { extra: 1 }),
)

const SAMPLES: Record<string, fc.Arbitrary<string>> = {
  date: fc.constant('2026-11-30'),
  'date-time': fc.constant('2026-11-30T10:00:00Z'),
  email: fc.constant('ada@example.org'),
  uuid: fc.constant('2f1c3f43-7a8e-4f63-9c1b-0a3c0a2b7d10'),
  ipv4: fc.constant('192.0.2.1'),
  uri: fc.constant('https://example.org/x'),
  hostname: fc.constant('example.org'),
}

type Place = { root: JsonSchema; depth: number }

/** Values that a schema speaks of; most are valid, none is promised to be. */
export const valuesOf = (schema: Schema, place: Place): fc.Arbitrary<unknown> => {
  if (typeof schema === 'boolean' || place.depth > MAX_DEPTH + 2) return anything
  const inner = (part: Schema) => valuesOf(part, { ...place, depth: place.depth + 1 })
  const { $ref, anyOf, oneOf, allOf, if: test, then, ...own } = schema as Record<string, Schema[]>
  const parts: fc.Arbitrary<unknown>[] = []
  if (typeof $ref === 'string') parts.push(inner(at(place.root, $ref)))
  for (const union of [anyOf, oneOf]) if (union) parts.push(fc.oneof(...union.map(inner)))
  for (const part of allOf ?? []) parts.push(inner(part))
  if (test !== undefined && then !== undefined)
    parts.push(fc.oneof(fc.constant({}), inner({ allOf: [test, then] } as JsonSchema)))
  if (isTelling(own) || parts.length === 0) parts.unshift(ownValues(own, place))
  return fc.tuple(...parts).map(merged)
}

/** Parts of an object make one object; of other values, one is taken. */
const merged = (values: unknown[]): unknown => {
  const objects = values.filter(isRecord)
  if (objects.length === values.length || (objects.length > 0 && isRecord(values[0])))
    return Object.assign({}, ...objects)
  return values.findLast(value => !isRecord(value))
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const SILENT = ['description', 'title', 'x-own', 'deprecated', 'default', 'not', '$defs']
const isTelling = (schema: JsonSchema) => Object.keys(schema).some(word => !SILENT.includes(word))

const at = (root: JsonSchema, pointer: string): Schema =>
  pointer
    .slice(1)
    .split('/')
    .filter(Boolean)
    .reduce<unknown>(
      (place, part) => (place as JsonSchema)[part.replaceAll('~1', '/').replaceAll('~0', '~')],
      root,
    ) as Schema

const ownValues = (schema: JsonSchema, place: Place): fc.Arbitrary<unknown> => {
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  const types = [schema.type].flat().filter(Boolean)
  const type = types.length > 0 ? types : impliedTypes(schema)
  return type.length === 0
    ? anything
    : fc.oneof(...type.map(only => typedValues(String(only), schema, place)))
}

const WORDS: Record<string, RegExp> = {
  object: /propert|^required$|^dependent/i,
  array: /items|contains/i,
  string: /length|^pattern$|^format$/i,
  number: /imum$|^multipleOf$/,
}

/** Words of one type, without `type`: the author will have meant values of that type. */
const impliedTypes = (schema: JsonSchema): string[] => {
  const words = Object.keys(schema)
  const types = Object.keys(WORDS).filter(type => words.some(word => WORDS[type]?.test(word)))
  return types.length === 1 ? types : []
}

const typedValues = (type: string, schema: JsonSchema, place: Place): fc.Arbitrary<unknown> => {
  switch (type) {
    case 'string':
      return textValues(schema)
    case 'integer':
      return fc.integer({ min: -6, max: 12 })
    case 'number':
      return fc.integer({ min: -12, max: 24 }).map(half => half / 2)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return listValues(schema, place)
    default:
      return objectValues(schema, place)
  }
}

const textValues = ({ format, pattern, minLength = 0, maxLength }: JsonSchema) => {
  const sample = typeof format === 'string' ? SAMPLES[format] : undefined
  if (sample) return sample
  if (typeof pattern === 'string')
    return pattern.includes('(?')
      ? fc.constantFrom('x', 'abc', 'zebra')
      : fc.stringMatching(new RegExp(pattern, 'u'), { size: 'xsmall' })
  const least = Number(minLength)
  return fc.string({ minLength: least, maxLength: Number(maxLength ?? least + 3) })
}

const listValues = (schema: JsonSchema, place: Place): fc.Arbitrary<unknown> => {
  if (place.depth > MAX_DEPTH) return fc.constant([])
  const inner = { ...place, depth: place.depth + 1 }
  const prefix = ((schema.prefixItems ?? []) as Schema[]).map(item => valuesOf(item, inner))
  const rest =
    schema.items === false
      ? fc.constant([])
      : fc.array(valuesOf((schema.items ?? true) as Schema, inner), { maxLength: 2 })
  return fc.tuple(fc.tuple(...prefix), rest).map(([first, others]) => [...first, ...others])
}

const objectValues = (schema: JsonSchema, place: Place): fc.Arbitrary<unknown> => {
  const inner = { ...place, depth: place.depth + 1 }
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>).filter(
    ([, part]) => part !== false && JSON.stringify(part) !== '{"not":{}}',
  )
  const required = (schema.required ?? []) as string[]
  const wanted = properties.filter(([name]) => place.depth <= MAX_DEPTH || required.includes(name))
  const declared = Object.fromEntries(wanted.map(([name, part]) => [name, valuesOf(part, inner)]))
  const missing = required.filter(name => !Object.hasOwn(declared, name))
  const others = schema.additionalProperties ?? true
  for (const name of missing) declared[name] = valuesOf(others as Schema, inner)
  const extras =
    others === false || place.depth > MAX_DEPTH
      ? fc.constant({})
      : fc.oneof(
          { arbitrary: fc.constant({}), weight: 3 },
          {
            arbitrary: fc.dictionary(
              fc.constantFrom(...OTHER_NAMES),
              valuesOf(others as Schema, inner),
              { maxKeys: 2 },
            ),
            weight: 1,
          },
        )
  return fc
    .tuple(
      fc.record(declared, { requiredKeys: required.filter(name => Object.hasOwn(declared, name)) }),
      extras,
    )
    .map(([own, more]) => ({ ...more, ...own }))
}

/** Arguments for a schema: objects as it describes them. */
export const argumentsOf = (root: JsonSchema): fc.Arbitrary<Record<string, unknown>> =>
  valuesOf(root, { root, depth: 0 }).map(value => (isRecord(value) ? value : {}))

/** Arguments with something wrong in them: a value of another kind, a null, one more or one less. */
export const spoiled = (values: Record<string, unknown>): fc.Arbitrary<Record<string, unknown>> => {
  const names = Object.keys(values)
  const changes: fc.Arbitrary<Record<string, unknown>>[] = [
    anything.map(value => ({ ...values, unknown_name: value })),
    ...names.map(name => anything.map(value => ({ ...values, [name]: value }))),
    ...names.map(name => fc.constant({ ...values, [name]: null })),
    ...names.map(name =>
      fc.constant(Object.fromEntries(Object.entries(values).filter(([other]) => other !== name))),
    ),
    ...names.flatMap(name => {
      const inner = values[name]
      return isRecord(inner)
        ? [
            fc
              .constant(null)
              .chain(() => spoiled(inner))
              .map(changed => ({ ...values, [name]: changed })),
          ]
        : []
    }),
  ]
  return fc.oneof(...changes)
}
