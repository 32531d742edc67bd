import { type Context, isCircle, MAX_DEPTH, TOO_DEEP, within } from './context.ts'
import {
  isObject,
  type JsonSchema,
  KNOWN,
  modern,
  pick,
  type Schema,
  schemasIn,
} from './json-schema.ts'
import { merge } from './merge.ts'
import { nameAt } from './references.ts'
import { say } from './say.ts'

/** A schema without references and `allOf`, and the sentences for what could not be put into it. */
export type Flat = { node: JsonSchema; sentences: string[]; entered: readonly string[] }

/**
 * Follows a schema's references and merges what must hold together, at this level only. Undefined
 * where no value is valid. A reference that leads back to itself is told and not followed.
 */
export const flatten = (schema: Schema, context: Context): Flat | undefined => {
  if (schema === true) return { node: {}, sentences: [], entered: context.entered }
  if (schema === false) return undefined
  if (context.depth > MAX_DEPTH)
    return { node: {}, sentences: [TOO_DEEP], entered: context.entered }
  const inner = within(context)
  const { parts, own } = partsOf(schema)
  let flat: Flat = { node: own, sentences: [], entered: context.entered }
  for (const part of parts) {
    const reference = isObject(part) && typeof part.$ref === 'string' ? part.$ref : undefined
    const next =
      reference !== undefined && Object.keys(part).length === 1
        ? follow(reference, { ...inner, entered: flat.entered })
        : flatten(part, { ...inner, entered: flat.entered })
    if (!next) return undefined
    const { schema: node, rest } = merge(flat.node, next.node)
    const left = rest.flatMap(other => say({ allOf: [other] }))
    flat = {
      node,
      sentences: [...flat.sentences, ...next.sentences, ...left],
      entered: next.entered,
    }
  }
  return isNever(flat.node) ? undefined : flat
}

/** A schema's own words, and what must hold besides: what it refers to and its `allOf`. */
const partsOf = (schema: JsonSchema): { own: JsonSchema; parts: Schema[] } => {
  const { $ref, $dynamicRef, allOf, const: constant, ...own } = known(schema)
  const references = [$ref, $dynamicRef].filter(reference => typeof reference === 'string')
  const parts = [
    ...references.map(reference => ({ $ref: reference })),
    ...schemasIn(allOf),
    ...(constant === undefined ? [] : [{ enum: [constant] }]),
  ]
  return { own, parts }
}

/** What we know of, in the words of 2020-12; the rest constrains nothing. */
const known = (schema: JsonSchema): JsonSchema => pick(modern(schema), KNOWN)

const follow = (reference: string, context: Context): Flat | undefined => {
  const target = context.resolve(reference)
  const { entered } = context
  if (!target) return { node: {}, sentences: say({ $ref: reference }), entered }
  if (isCircle(context, target.pointer))
    return { node: {}, sentences: [againText(target.pointer)], entered }
  return flatten(target.schema, { ...context, entered: [...entered, target.pointer] })
}

export const againText = (pointer: string): string => `Has the shape of "${nameAt(pointer)}" again.`

/** Whether a schema's own words already leave no value. */
const isNever = ({ type, enum: values }: JsonSchema): boolean =>
  [type, values].some(list => Array.isArray(list) && list.length === 0)
