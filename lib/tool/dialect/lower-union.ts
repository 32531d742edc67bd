import { type Context, within } from './context.ts'
import { isDecidable } from './decide.ts'
import {
  constraintsOf,
  distinct,
  isObject,
  type JsonSchema,
  namesIn,
  omit,
  type Schema,
  schemasIn,
} from './json-schema.ts'
import { say } from './say.ts'

export type UnionKeyword = 'anyOf' | 'oneOf'

export const unionKeyword = (node: JsonSchema): UnionKeyword | undefined =>
  (['anyOf', 'oneOf'] as const).find(keyword => Array.isArray(node[keyword]))

/**
 * A union as `anyOf` that stands alone, as providers want it: what holds for all alternatives is
 * written into each. Alternatives that only name what they require are told.
 */
export const lowerUnion = (node: JsonSchema, context: Context): JsonSchema | undefined => {
  const { sentences } = context
  const keyword = unionKeyword(node) ?? 'anyOf'
  const branches = schemasIn(node[keyword])
  // Of several alternatives that match, each says which properties it knows.
  const isOverlapping = keyword === 'anyOf' && 'unevaluatedProperties' in node
  if (isOverlapping) sentences.push(...say(node, ['unevaluatedProperties']))
  const left = isOverlapping ? [keyword, 'unevaluatedProperties'] : [keyword]
  const base = omit(constraintsOf(node), ...left)
  const hasBase = Object.keys(base).length > 0
  if (hasBase && branches.every(isRequirement)) {
    sentences.push(requirementText(keyword, branches as JsonSchema[]))
    return context.write(base, within(context))
  }
  const inner = within(context, { isCopy: context.isCopy || hasBase })
  const written = branches.flatMap(branch => {
    const alternative = context.write(hasBase ? { allOf: [base, branch] } : branch, inner)
    if (!alternative) return []
    return isBareUnion(alternative) ? (alternative.anyOf as JsonSchema[]) : [alternative]
  })
  const alternatives = distinct(written)
  const [only, ...others] = alternatives
  if (!only) return undefined
  if (keyword === 'oneOf' && branches.length > 1 && !isDecidable(alternatives))
    sentences.push('Exactly one of the alternatives must match.')
  return others.length === 0 ? only : { anyOf: alternatives }
}

/** `anyOf` without words of its own, which may as well be part of the union around it. */
const isBareUnion = (schema: JsonSchema): boolean =>
  Array.isArray(schema.anyOf) && Object.keys(schema).length === 1

export const isRequirement = (schema: Schema): boolean =>
  isObject(schema) &&
  Object.keys(constraintsOf(schema)).every(
    keyword => keyword === 'required' || (keyword === 'type' && schema.type === 'object'),
  ) &&
  'required' in schema

export const requirementText = (keyword: UnionKeyword, branches: JsonSchema[]): string => {
  const sets = branches.map(({ required }) => namesIn(required).join(' and ') || 'nothing more')
  return `Give ${keyword === 'oneOf' ? 'exactly' : 'at least'} one of: ${sets.join('; ')}.`
}
