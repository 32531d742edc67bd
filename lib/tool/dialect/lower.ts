import { type Context, isCircle, MAX_COPIED_SCHEMAS, MAX_DEPTH, TOO_DEEP } from './context.ts'
import { againText, flatten } from './flatten.ts'
import {
  admits,
  constraintsOf,
  distinct,
  isObject,
  JSON_TYPES,
  type JsonSchema,
  type JsonType,
  KEYWORDS_OF_TYPE,
  omit,
  type Schema,
  typeOf,
} from './json-schema.ts'
import { lowerArray } from './lower-array.ts'
import { lowerObject } from './lower-object.ts'
import { lowerScalar } from './lower-scalar.ts'
import { lowerUnion, unionKeyword } from './lower-union.ts'
import { nameAt } from './references.ts'
import { described, say } from './say.ts'

/** Told with a value that has no constraint of its own on the wire. */
const TOLD_ANNOTATIONS = ['default', 'deprecated', 'contentEncoding', 'contentMediaType']

/**
 * A schema in the words of a dialect that has a subset only: every valid value is valid there,
 * and what is said less is told in the description. Undefined where no value is valid.
 */
export const lower = (schema: Schema, context: Context): JsonSchema | undefined => {
  if (context.isCopy && ++context.budget.copies > MAX_COPIED_SCHEMAS)
    return withDescription(shallow(schema, context), 'Too large to be described here.')
  if (context.depth > MAX_DEPTH) return { description: TOO_DEEP }
  const reference = isObject(schema) ? lowerReference(schema, context) : undefined
  if (reference) return reference
  const flat = flatten(schema, context)
  if (!flat) return undefined
  const { node, entered } = flat
  const isInlined = entered.length > context.entered.length
  const { sentences } = flat
  const inner = { ...context, entered, sentences, isCopy: context.isCopy || isInlined }
  const body = lowerBody(node, inner)
  return body && withDescription(body, described(node.description, sentences))
}

/** The schema with its description where providers show it, and next to no reference. */
export const withDescription = (body: JsonSchema, text: string | undefined): JsonSchema => {
  const { type, description, ...others } = '$ref' in body && text ? { anyOf: [body] } : body
  const joined = [text, description].filter(Boolean).join(' ')
  return { ...(type !== undefined && { type }), ...(joined && { description: joined }), ...others }
}

/** A schema that only refers: kept where the dialect has references, cut where it goes round. */
const lowerReference = (schema: JsonSchema, context: Context): JsonSchema | undefined => {
  const only = typeof schema.$ref === 'string' && Object.keys(constraintsOf(schema)).length === 1
  const target = only ? context.resolve(schema.$ref as string) : undefined
  if (!target) return undefined
  const { pointer } = target
  const sentences = say(schema, TOLD_ANNOTATIONS)
  if (context.table.references === 'kept') {
    const name = define(pointer, context.definitions)
    const text = described(schema.description, sentences)
    return withDescription({ $ref: `#/$defs/${name}` }, text)
  }
  if (!isCircle(context, pointer)) return undefined
  const text = described(schema.description, [againText(pointer), ...sentences])
  return withDescription(shallow(target.schema, context), text)
}

/** The name of a definition in `$defs`, made where it has none yet. */
export const define = (pointer: string, definitions: Map<string, string>): string => {
  const taken = definitions.get(pointer)
  if (taken !== undefined) return taken
  const base = nameAt(pointer).replace(/[^a-zA-Z0-9_.-]/g, '_') || '_'
  const names = new Set(definitions.values())
  let name = base
  for (let count = 2; names.has(name); count++) name = `${base}_${count}`
  definitions.set(pointer, name)
  return name
}

/** No more of a schema than its type. */
const shallow = (schema: Schema, { table, resolve }: Context): JsonSchema => {
  const of = isObject(schema) ? schema : {}
  const target = typeof of.$ref === 'string' ? resolve(of.$ref)?.schema : undefined
  const { type } = isObject(target) ? target : of
  if (type === 'array') return { type, items: {} }
  if (type === 'object')
    return { type, ...(table.isClosedUnlessSaid && { additionalProperties: true }) }
  return typeof type === 'string' ? { type } : {}
}

const lowerBody = (node: JsonSchema, context: Context): JsonSchema | undefined => {
  const { table, sentences } = context
  const rest = omit(node, ...(table.keywords.has('default') ? ['default'] : []))
  const union = unionKeyword(node)
  const body = union ? lowerUnion(node, context) : lowerTypes(node, context)
  if (!body) return undefined
  if (!union) sentences.push(...say(node, ['not', 'if']))
  sentences.push(...say(rest, TOLD_ANNOTATIONS))
  const keepsDefault = 'default' in node && table.keywords.has('default')
  return keepsDefault ? { ...body, default: node.default } : body
}

const lowerTypes = (node: JsonSchema, context: Context): JsonSchema | undefined => {
  const types = typesOf(node)
  if (!types) {
    context.sentences.push(...say(omit(constraintsOf(node), 'not', 'if', 'then', 'else')))
    return {}
  }
  const [first, ...others] = types
  if (first === undefined) return undefined
  if (others.length === 0) return lowerType({ ...node, type: first }, context)
  const scalar = types.length === 2 && types.find(type => type !== 'null' && !isNested(type))
  if (context.table.hasTypeLists && scalar && types.includes('null')) {
    const type: JsonType[] = [scalar, 'null']
    return lowerType({ ...node, type }, context)
  }
  const alternatives = types.flatMap(type => {
    const sentences: string[] = []
    const body = lowerType({ ...node, type }, { ...context, sentences })
    return body ? [withDescription(body, described(undefined, sentences))] : []
  })
  return alternatives.length > 1 ? { anyOf: alternatives } : alternatives[0]
}

const isNested = (type: JsonType): boolean => type === 'object' || type === 'array'

/** A schema of one type, or of a plain one and null. */
const lowerType = (node: JsonSchema, context: Context): JsonSchema | undefined => {
  switch (node.type) {
    case 'object':
      return lowerObject(node, context)
    case 'array':
      return lowerArray(node, context)
    default:
      return lowerScalar(node, context)
  }
}

/**
 * The types of a schema's values, in its own order: as it says, as its `enum` shows, or else as
 * all its keywords imply that speak of one type. Undefined where it says nothing.
 */
export const typesOf = (node: JsonSchema): JsonType[] | undefined => {
  const said = 'type' in node ? [node.type].flat().filter(isType) : undefined
  if (Array.isArray(node.enum)) {
    const values = node.enum
    const types = said?.filter(type => values.some(value => admits(type, value)))
    return widest(types ?? distinct(values.map(typeOf)))
  }
  if (said) return widest(said)
  const implied = (['string', 'number', 'object', 'array'] as const).filter(type =>
    KEYWORDS_OF_TYPE[type].some(keyword => keyword in node),
  )
  return implied.length === 1 ? implied : undefined
}

/** Every integer is a number, which then says it all. */
const widest = (types: JsonType[]): JsonType[] =>
  types.filter(type => !(type === 'integer' && types.includes('number')))

const isType = (value: unknown): value is JsonType => JSON_TYPES.some(type => type === value)
