import * as z from 'zod'
import { type Choices, withChoices } from './choices.ts'
import type { Operation, Tool } from './define.ts'
import type { JsonSchema } from './dialect/json-schema.ts'

/** A JSON Schema of an object, as far as we read it ourselves. */
export type ObjectSchema = {
  type: 'object'
  properties: Record<string, PropertySchema>
  required: string[]
  additionalProperties: false
  /** What properties refer to as `#/$defs/…`: schemas that contain themselves, or have a name. */
  $defs?: Record<string, JsonSchema>
}
export type PropertySchema = { description?: string; [keyword: string]: unknown }

/** The schema of one operation's arguments: its HTTP body, and its part of the flat schema. */
export const operationSchema = (operation: Operation): ObjectSchema => {
  const known = emitted.get(operation)
  if (known) return known
  const emission = z.toJSONSchema(operation.parameters, {
    io: 'input',
    override: ({ jsonSchema }) => dropSafeBounds(jsonSchema),
  }) as Partial<ObjectSchema>
  const schema: ObjectSchema = {
    type: 'object',
    properties: emission.properties ?? {},
    required: emission.required ?? [],
    additionalProperties: false,
    ...(emission.$defs ? { $defs: emission.$defs } : {}),
  }
  emitted.set(operation, schema)
  return schema
}

/** That a whole number is one that JavaScript can count to goes without saying, in every request. */
const dropSafeBounds = (schema: z.core.JSONSchema.BaseSchema): void => {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

/** Emission is slow next to a lookup, and declarations don't change. */
const emitted = new WeakMap<Operation, ObjectSchema>()

/**
 * The one flat schema that a model sees for a tool: where the tool declares two or more
 * operations the discriminator comes first, then all parameters in order of first appearance.
 * What only some operations require is said in its description. With a single operation enabled
 * the discriminator may be omitted. What settings leave to choose from stands in the parameter
 * that it is for, ids called by their `label`.
 */
export const toolSchema = (
  tool: Tool,
  enabled: Operation[],
  { choices = {}, label = value => value }: Offered = {},
): ObjectSchema => {
  const $defs: Record<string, JsonSchema> = {}
  const users = enabled.map(operation => {
    const own = withSharedDefs(operationSchema(operation), $defs)
    return { operation: operation.name, properties: own.properties, required: own.required }
  })
  const names = new Set(users.flatMap(user => Object.keys(user.properties)))
  const properties: Record<string, PropertySchema> = {}
  const required: string[] = []
  if (hasDiscriminator(tool)) {
    properties[tool.discriminator] = discriminatorSchema(enabled)
    if (enabled.length > 1) required.push(tool.discriminator)
  }
  for (const name of names) {
    const uses = users.flatMap(({ operation, properties, required }) => {
      const property = properties[name]
      return property ? [{ operation, property, required: required.includes(name) }] : []
    })
    if (uses.length === enabled.length && uses.every(use => use.required)) required.push(name)
    const property = sharedProperty(uses, enabled.length)
    const choice = Object.hasOwn(choices, name) ? choices[name] : undefined
    properties[name] = choice ? withChoices(property, choice, label) : property
  }
  return {
    type: 'object',
    properties,
    required,
    additionalProperties: false,
    ...(Object.keys($defs).length > 0 ? { $defs } : {}),
  }
}

/** What a tool's settings leave to choose from, and what ids in it are called. */
export type Offered = { choices?: Choices; label?: (id: string) => string }

/** Whether calls of this tool say which operation they mean. */
const hasDiscriminator = (tool: Tool): boolean => Object.keys(tool.operations).length > 1

/**
 * A model's arguments, taken apart into the operation they name and the rest. Only a text names
 * one: of anything else the gate says that no operation was named, and which there are.
 */
export const splitArguments = (
  tool: Tool,
  enabled: Operation[],
  values: Record<string, unknown>,
): { operation: string | undefined; rest: Record<string, unknown> } => {
  if (!hasDiscriminator(tool)) return { operation: Object.keys(tool.operations)[0], rest: values }
  const { [tool.discriminator]: named, ...rest } = values
  if (typeof named === 'string') return { operation: named, rest }
  const only = named === undefined && enabled.length === 1 ? enabled[0]?.name : undefined
  return { operation: only, rest }
}

const discriminatorSchema = (enabled: Operation[]): PropertySchema => ({
  type: 'string',
  enum: enabled.map(operation => operation.name),
  description: [
    'Which operation to run.',
    ...enabled.map(({ name, description }) => `${name}: ${description}`),
  ].join('\n'),
})

/** One operation's use of a parameter's name. */
type Use = { operation: string; property: PropertySchema; required: boolean }

/** The one place that a name has in the flat schema: where its uses differ, its description says so. */
const sharedProperty = (uses: Use[], operations: number): PropertySchema => {
  const [first] = uses
  if (!first) return {}
  const { description: _, default: __, ...shape } = first.property
  const isShared = uses.length === operations
  const description = [
    describeUses(uses, ({ property }) => property.description),
    usageNote(uses, isShared),
    haveOne(uses, ({ property }) => property.default)
      ? undefined
      : `Default: ${uses.map(use => `${JSON.stringify(use.property.default) ?? 'none'} for ${use.operation}`).join(', ')}.`,
  ].filter(text => text !== undefined)
  return {
    ...shape,
    ...(haveOne(uses, ({ property }) => property.default) && 'default' in first.property
      ? { default: first.property.default }
      : {}),
    ...(description.length > 0 ? { description: description.join(' ') } : {}),
  }
}

const haveOne = (uses: Use[], read: (use: Use) => unknown): boolean =>
  new Set(uses.map(use => JSON.stringify(read(use)))).size === 1

/** What all uses say alike, or what each says. */
const describeUses = (uses: Use[], read: (use: Use) => string | undefined): string | undefined => {
  const telling = uses.filter(read)
  if (telling.length === 0 || haveOne(telling, read)) return telling[0] && read(telling[0])
  return telling.map(use => `For ${use.operation}: ${read(use)}`).join(' ')
}

/** Which operations take a parameter, unless all take it alike. */
const usageNote = (uses: Use[], isShared: boolean): string | undefined => {
  const requirers = uses.filter(use => use.required).map(nameOf)
  const others = uses.filter(use => !use.required).map(nameOf)
  if (isShared && (requirers.length === 0 || others.length === 0)) return undefined
  if (requirers.length === 0) return `For ${others.join(', ')}.`
  const optional = others.length > 0 ? ` Optional for ${others.join(', ')}.` : ''
  return `Required for ${requirers.join(', ')}.${optional}`
}

const nameOf = ({ operation }: Use): string => operation

/**
 * An operation's schema within a flat one that others are in: its definitions move to those of all,
 * under another name where theirs has it already.
 */
const withSharedDefs = (schema: ObjectSchema, all: Record<string, JsonSchema>): ObjectSchema => {
  const { $defs, ...own } = schema
  if (!$defs) return schema
  const names = new Map(Object.keys($defs).map(name => [name, freeName(name, $defs[name], all)]))
  const renamed = <T>(part: T): T => withRefs(part, names) as T
  for (const [name, definition] of Object.entries($defs))
    all[names.get(name) ?? name] = renamed(definition)
  return renamed(own)
}

/** The name itself where it is free, or stands for a schema that names the same one already. */
const freeName = (
  name: string,
  definition: JsonSchema | undefined,
  all: Record<string, JsonSchema>,
): string => {
  let free = name
  for (let count = 2; Object.hasOwn(all, free); count++) {
    if (JSON.stringify(all[free]) === JSON.stringify(definition)) return free
    free = `${name}_${count}`
  }
  return free
}

const DEFS = '#/$defs/'

/** A copy of a part of a schema with its references renamed. */
const withRefs = (part: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (Array.isArray(part)) return part.map(item => withRefs(item, names))
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      const target = key === '$ref' && typeof value === 'string' ? value : undefined
      if (!target?.startsWith(DEFS)) return [key, withRefs(value, names)]
      const name = target.slice(DEFS.length)
      return [key, DEFS + (names.get(name) ?? name)]
    }),
  )
}
