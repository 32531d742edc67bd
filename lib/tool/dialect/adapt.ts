import { AppError } from '../../core/errors.ts'
import type { Context } from './context.ts'
import type { JsonSchema } from './json-schema.ts'
import { keep } from './keep.ts'
import { lower } from './lower.ts'
import { lowerObject } from './lower-object.ts'
import { referencesIn, resolver } from './references.ts'
import { renamed, renamesOf, renaming } from './rename.ts'
import { rootOf } from './root.ts'
import { strictOf } from './strict.ts'
import { type Dialect, TABLES } from './tables.ts'

export type { JsonSchema } from './json-schema.ts'
export { DIALECTS, type Dialect } from './tables.ts'

type Values = Record<string, unknown>

const NOTHING: JsonSchema = { description: 'No value is valid here.' }

export type Adapted = {
  /** What goes on the wire: only keywords that the provider documents, no root combinator. */
  schema: JsonSchema
  /** Present where the provider has such a mode; true only if the schema is within it. */
  strict?: boolean
  /** What the schema can't say and no property's description has room for; whole sentences. */
  notes: string[]
  /** Neutral arguments as the wire's schema wants them, and back. */
  toWire: (values: Values) => Values
  fromWire: (values: Values) => Values
}

/**
 * A tool's schema (JSON Schema 2020-12, ours or an imported tool's) as a provider takes it. What
 * the dialect can't say is told in descriptions and notes; our own validation decides. Throws
 * INVALID_DEFINITION where no object is valid by the schema.
 */
export const adapt = (dialect: Dialect, schema: JsonSchema): Adapted => {
  const table = TABLES[dialect]
  const isSubset = table.vocabulary === 'subset'
  const context: Context = {
    table,
    resolve: resolver(schema),
    write: isSubset ? lower : keep,
    definitions: new Map(),
    budget: { copies: 0, variants: 0 },
    entered: [],
    sentences: [],
    depth: 0,
    isCopy: false,
  }
  const root = rootOf(schema, context)
  const renames = renamesOf(root.node, table.argumentName)
  const { node, notes: toldNames } = renamed(root.node, renames)
  const notes = [...root.notes, ...toldNames]
  const inner = { ...context, entered: root.entered, sentences: notes }
  const body = isSubset ? lowerObject(node, inner) : keep(node, inner)
  if (!body)
    throw new AppError(
      'INVALID_DEFINITION',
      'No arguments are valid by this schema: it requires a property that it also refuses.',
    )
  const { type, ...others } = body
  const own: JsonSchema = {
    type,
    ...(node.description !== undefined && { description: node.description }),
    properties: {},
    ...others,
  }
  const definitions = definitionsOf(own, context)
  const written = definitions ? { ...own, $defs: definitions } : own
  const { toWire, fromWire } = renaming(renames, written.additionalProperties !== false)
  if (dialect !== 'openai') return { schema: written, notes, toWire, fromWire }
  const strict = strictOf(written)
  return { schema: written, strict: strict !== undefined, notes, toWire, fromWire, ...strict }
}

/** What the body refers to, directly or not, each written once. */
const definitionsOf = (body: JsonSchema, context: Context): JsonSchema | undefined => {
  const { definitions, write, resolve } = context
  const written = new Map<string, JsonSchema>()
  const needed = referencesIn(body)
  // A set's iteration goes on to what is added meanwhile, as writing a definition does.
  for (const name of needed) {
    const [pointer = ''] = [...definitions].find(([, other]) => other === name) ?? []
    const schema = resolve(pointer)?.schema ?? true
    const definition: JsonSchema = write(schema, { ...context, entered: [pointer] }) ?? NOTHING
    written.set(name, definition)
    for (const other of referencesIn(definition)) needed.add(other)
  }
  return written.size > 0 ? Object.fromEntries(written) : undefined
}
