import * as z from 'zod'
import type { Operation, Tool } from './define.ts'

/** A JSON Schema (2020-12) of an object, as far as we read it ourselves. */
export type ObjectSchema = {
  type: 'object'
  properties: Record<string, PropertySchema>
  required: string[]
  additionalProperties: false
}
export type PropertySchema = { description?: string; [keyword: string]: unknown }

/** The schema of one operation's arguments: its HTTP body, and its part of the flat schema. */
export const operationSchema = (operation: Operation): ObjectSchema => {
  const known = emitted.get(operation)
  if (known) return known
  const emission = z.toJSONSchema(operation.parameters, { io: 'input' }) as Partial<ObjectSchema>
  const schema: ObjectSchema = {
    type: 'object',
    properties: emission.properties ?? {},
    required: emission.required ?? [],
    additionalProperties: false,
  }
  emitted.set(operation, schema)
  return schema
}

/** Emission is slow next to a lookup, and declarations don't change. */
const emitted = new WeakMap<Operation, ObjectSchema>()

/**
 * The one flat schema that a model sees for a tool: where the tool declares two or more
 * operations the discriminator comes first, then all parameters in order of first appearance.
 * What only some operations require is said in its description. With a single operation enabled
 * the discriminator may be omitted.
 */
export const toolSchema = (tool: Tool, enabled: Operation[]): ObjectSchema => {
  const schemas = enabled.map(operation => ({ operation, schema: operationSchema(operation) }))
  const names = new Set(schemas.flatMap(({ schema }) => Object.keys(schema.properties)))
  const properties: Record<string, PropertySchema> = {}
  const required: string[] = []
  if (hasDiscriminator(tool)) {
    properties[tool.discriminator] = discriminatorSchema(enabled)
    if (enabled.length > 1) required.push(tool.discriminator)
  }
  for (const name of names) {
    const users = schemas.filter(({ schema }) => name in schema.properties)
    const requirers = users.filter(({ schema }) => schema.required.includes(name))
    const property = users[0]?.schema.properties[name] ?? {}
    const everywhere = requirers.length === enabled.length
    if (everywhere) required.push(name)
    const alike = requirers.length === 0 && users.length === enabled.length
    properties[name] =
      everywhere || alike
        ? property
        : withNote(property, usageNote(users.map(nameOf), requirers.map(nameOf)))
  }
  return { type: 'object', properties, required, additionalProperties: false }
}

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

const nameOf = ({ operation }: { operation: Operation }) => operation.name

const discriminatorSchema = (enabled: Operation[]): PropertySchema => ({
  type: 'string',
  enum: enabled.map(operation => operation.name),
  description: [
    'Which operation to run.',
    ...enabled.map(({ name, description }) => `${name}: ${description}`),
  ].join('\n'),
})

const usageNote = (users: string[], requirers: string[]): string =>
  requirers.length > 0
    ? `Required for ${requirers.join(', ')}.${users.length > requirers.length ? ` Optional for ${users.filter(user => !requirers.includes(user)).join(', ')}.` : ''}`
    : `For ${users.join(', ')}.`

const withNote = (property: PropertySchema, note: string): PropertySchema => ({
  ...property,
  description: property.description ? `${property.description} ${note}` : note,
})
