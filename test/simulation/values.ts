import type { Random } from './random.ts'

type Schema = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  $ref?: string
}

/** What a made-up argument may name: things that there are. */
export type Known = { agents: string[]; tasks: string[]; text: () => string; random: Random }

/** How far a number goes from its least, and how long a list gets. */
const SPAN = 5
const MAX_ITEMS = 3
const OPTIONAL = 0.5
/** Arguments that are nonsense, so that they are refused. */
const NONSENSE = 0.03

/** A value that a schema allows, as a rule; the names say what texts stand for. */
export const madeUp = (schema: Schema, name: string, known: Known): unknown => {
  const { random } = known
  if (random.chance(NONSENSE)) return random.pick(['', 'nonsense', -1, null, {}])
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return random.pick(schema.enum)
  if (schema.anyOf) return madeUp(random.pick(schema.anyOf), name, known)
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type
  switch (type) {
    case 'object':
      return objectOf(schema, known)
    case 'array': {
      const { minItems = 1, maxItems = MAX_ITEMS } = schema
      const length = random.int(minItems, Math.max(minItems, Math.min(MAX_ITEMS, maxItems)))
      return Array.from({ length }, () => madeUp(schema.items ?? {}, name, known))
    }
    case 'integer':
    case 'number': {
      const { minimum = 1, maximum = minimum + SPAN } = schema
      return random.int(Math.ceil(minimum), Math.floor(Math.min(maximum, minimum + SPAN)))
    }
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    default:
      return textOf(name, known)
  }
}

export const objectOf = (
  { properties = {}, required = [] }: Schema,
  known: Known,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name) || known.random.chance(OPTIONAL))
      .map(([name, schema]) => [name, madeUp(schema, name, known)]),
  )

const textOf = (name: string, { agents, tasks, text, random }: Known): string => {
  if (/agent/.test(name)) return random.pick(agents)
  if (/task|id/.test(name) && tasks.length > 0) return random.pick(tasks)
  return text()
}
