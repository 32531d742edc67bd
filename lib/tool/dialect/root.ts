import { AppError } from '../../core/errors.ts'
import type { Context } from './context.ts'
import { type Flat, flatten } from './flatten.ts'
import {
  constraintsOf,
  distinct,
  isObject,
  isSame,
  type JsonSchema,
  namesIn,
  omit,
  type Schema,
  schemasByName,
  schemasIn,
} from './json-schema.ts'
import { typesOf } from './lower.ts'
import { isRequirement, requirementText, unionKeyword } from './lower-union.ts'
import { undeclared } from './merge.ts'
import { say, told } from './say.ts'
import { variantsText } from './variants-text.ts'

/** Alternatives of a whole tool's arguments, in all, before the rest is told as JSON. */
export const MAX_VARIANTS = 1000

/** An object's schema without a combination at its top, and what that leaves to be told. */
export type Root = { node: JsonSchema; notes: string[]; entered: readonly string[] }

/**
 * The root as one flat object, which all providers want. Of alternatives, it has the properties of
 * all and requires what all require. Throws INVALID_DEFINITION where no object is valid: arguments
 * always are one.
 */
export const rootOf = (schema: JsonSchema, context: Context): Root => {
  const variants = variantsOf(schema, context)
  const [first, ...others] = variants
  if (!first)
    throw new AppError(
      'INVALID_DEFINITION',
      'No object is valid by this schema, and the arguments of a tool are always an object. ' +
        'Declare the root with type "object", and a single value as one of its properties.',
    )
  const shared = first.sentences.filter(text =>
    others.every(({ sentences }) => sentences.includes(text)),
  )
  const node = others.length === 0 ? first.node : combined(variants.map(variant => variant.node))
  const told = ['enum', 'not', 'if', 'default', 'deprecated']
  const description = isObject(schema) ? flatDescription(schema, first, others) : undefined
  return {
    node: { ...omit(node, ...told, 'then', 'else', 'description'), ...description, type: 'object' },
    notes: [
      ...shared,
      ...(others.length === 0 ? [] : [variantsText(variants, shared)]),
      ...say(node, told),
    ],
    entered: distinct(variants.flatMap(({ entered }) => entered)),
  }
}

/** The description of the whole; those of alternatives are told with each. */
const flatDescription = (schema: JsonSchema, { node }: Flat, others: Flat[]): JsonSchema => {
  const text = others.length === 0 ? node.description : schema.description
  return typeof text === 'string' && text.trim() ? { description: text } : {}
}

/** The alternatives of the arguments, each as one flat object; what is no object is none. */
const variantsOf = (schema: Schema, context: Context): Flat[] => {
  const flat = flatten(schema, context)
  if (!flat) return []
  const { node, sentences, entered } = flat
  const keyword = unionKeyword(node)
  if (!keyword) {
    // Without a word on types an object is valid, whatever other words may be there.
    const isTyped = 'type' in node || 'enum' in node
    return !isTyped || typesOf(node)?.includes('object') ? [flat] : []
  }
  const branches = schemasIn(node[keyword])
  const base = omit(node, keyword)
  const inner = { ...context, entered }
  const telling = (texts: string[], of: Schema) =>
    variantsOf(of, inner).map(variant => ({
      ...variant,
      sentences: [...sentences, ...texts, ...variant.sentences],
    }))
  if (branches.every(isRequirement))
    return telling([requirementText(keyword, branches as JsonSchema[])], base)
  context.budget.variants += branches.length
  if (context.budget.variants > MAX_VARIANTS)
    return telling(
      [`Must match one of ${told(branches)}.`],
      omit(base, 'additionalProperties', 'unevaluatedProperties'),
    )
  const { unevaluatedProperties, ...common } = constraintsOf(base)
  const texts = unevaluatedProperties === undefined ? [] : say({ unevaluatedProperties })
  const variants = branches.flatMap(branch => telling(texts, { allOf: [common, branch] }))
  if (keyword === 'oneOf' && variants.length > 1)
    for (const variant of variants) variant.sentences.push('Exactly one alternative must match.')
  return variants
}

const PER_NAME = ['properties', 'required', 'additionalProperties', 'patternProperties']

/** The one object that has what any of the alternatives has, and requires what all do. */
const combined = (nodes: JsonSchema[]): JsonSchema => {
  const [first = {}] = nodes
  const shared = Object.fromEntries(
    Object.entries(first).filter(
      ([keyword, value]) =>
        !PER_NAME.includes(keyword) &&
        nodes.every(node => keyword in node && isSame(node[keyword], value)),
    ),
  )
  const declared = nodes.map(node => new Map(schemasByName(node.properties)))
  const names = new Set(declared.flatMap(properties => [...properties.keys()]))
  const requirements = nodes.map(node => new Set(namesIn(node.required)))
  const required = namesIn(first.required).filter(name => requirements.every(set => set.has(name)))
  const properties = [...names].map(name => {
    const schemas = nodes.map((node, at) => declared[at]?.get(name) ?? undeclaredHere(node, name))
    return [name, anyOf(schemas)] as const
  })
  return {
    ...shared,
    ...(names.size > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
    ...othersOf(nodes),
  }
}

/** Where an alternative is open to anything, the others decide what a property is. */
const undeclaredHere = (node: JsonSchema, name: string): Schema => {
  const schema = undeclared(node, name)
  return schema === true ? false : schema
}

/** One property as all alternatives see it. */
const anyOf = (all: Schema[]): Schema => {
  const schemas = distinct(all.filter(schema => schema !== false))
  const [only = false, ...others] = schemas
  if (others.length === 0) return only
  return valuesOf(schemas) ?? { anyOf: schemas }
}

const WORDS_OF_VALUES = ['type', 'enum', 'const', 'title', 'description']

/** Schemas that only list values, like the property that tells alternatives apart, as one list. */
const valuesOf = (schemas: Schema[]): JsonSchema | undefined => {
  const lists = schemas.map(schema => {
    if (!isObject(schema) || Object.keys(schema).some(word => !WORDS_OF_VALUES.includes(word)))
      return undefined
    return 'const' in schema ? [schema.const] : schema.enum
  })
  if (!lists.every(Array.isArray)) return undefined
  const own = schemas as JsonSchema[]
  const types = distinct(own.map(({ type }) => type))
  const texts = distinct(own.flatMap(({ description }) => description ?? []))
  const [type] = types
  if (types.length > 1 || Array.isArray(type)) return undefined
  return {
    ...(type !== undefined && { type }),
    ...(texts.length > 0 && { description: texts.join(' ') }),
    enum: distinct(lists.flat()),
  }
}

const othersOf = (nodes: JsonSchema[]): JsonSchema => {
  const patterns = distinct(nodes.map(({ patternProperties = null }) => patternProperties))
  const [pattern] = patterns
  if (patterns.length > 1) return {}
  const kept = pattern ? { patternProperties: pattern } : {}
  const others = nodes.map(({ additionalProperties = true }) => additionalProperties as Schema)
  if (others.includes(true)) return kept
  const schemas = distinct(others.filter(isObject))
  const [only = false, ...more] = schemas
  return { ...kept, additionalProperties: more.length === 0 ? only : { anyOf: schemas } }
}
