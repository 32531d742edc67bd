import type { JsonSchema, Schema } from './json-schema.ts'
import type { Resolve } from './references.ts'
import type { Table } from './tables.ts'

/** How often one definition may hold itself before a place says "the same shape again". */
export const MAX_RECURSION = 2
/**
 * Schemas made where references are replaced and unions multiplied out, in one tool: a few
 * definitions that use each other would otherwise grow without end.
 */
export const MAX_COPIED_SCHEMAS = 1000
/** Schemas within each other; deeper ones are told as unknown, so that no stack overflows. */
export const MAX_DEPTH = 64
export const TOO_DEEP = 'Nested too deep to be described here.'

/** What holds for a whole adaptation, and where in the schema it is. */
export type Context = {
  table: Table
  resolve: Resolve
  /** Writes a schema that the dialect takes; undefined where no value is valid. */
  write: (schema: Schema, context: Context) => JsonSchema | undefined
  /** The definitions that are referred to: their names by their pointers, in order. */
  definitions: Map<string, string>
  budget: { copies: number; variants: number }
  /** The pointers that were followed to get here, and the schemas above this one. */
  entered: readonly string[]
  depth: number
  /** What is to be told of the schema that is being written, in sentences. */
  sentences: string[]
  /** Whether this schema is written at more than one place. */
  isCopy: boolean
}

/** One level deeper. */
export const within = (context: Context, changes: Partial<Context> = {}): Context => ({
  ...context,
  ...changes,
  depth: context.depth + 1,
})

/** Whether following a pointer once more would go round in circles. */
export const isCircle = ({ entered, table }: Context, pointer: string): boolean =>
  entered.filter(other => other === pointer).length >=
  (table.references === 'inlined' ? MAX_RECURSION : 1)
