import type { Context } from './context.ts'
import { admits, type JsonSchema, type JsonType, KEYWORDS_OF_TYPE } from './json-schema.ts'
import { say } from './say.ts'
import type { Table } from './tables.ts'

/** A text, number, boolean or null; what the dialect has no word for goes to the sentences. */
export const lowerScalar = (node: JsonSchema, context: Context): JsonSchema | undefined => {
  const { table, sentences } = context
  const body: JsonSchema = { type: node.type }
  if (!lowerEnum(node, body, context)) return undefined
  const type = mainType(node)
  const isNumber = type === 'number' || type === 'integer'
  if (!isNumber && type !== 'string') return body
  const rules = isNumber ? withInclusiveBounds(node, context) : node
  for (const keyword of KEYWORDS_OF_TYPE[isNumber ? 'number' : 'string']) {
    if (!(keyword in rules)) continue
    if (isTaken(keyword, rules[keyword], table)) body[keyword] = rules[keyword]
    else sentences.push(...say(rules, [keyword]))
  }
  return body
}

/** The type of a schema that has one only, beside which null may stand. */
const mainType = ({ type }: JsonSchema): JsonType =>
  [type].flat().find((only, _, types) => types.length === 1 || only !== 'null') as JsonType

const isTaken = (keyword: string, value: unknown, table: Table): boolean => {
  if (!table.keywords.has(keyword)) return false
  if (keyword === 'format') return !table.formats || table.formats.has(String(value))
  if (keyword === 'pattern') return table.hasLookaround || !/\(\?<?[=!]/.test(String(value))
  return true
}

const EXCLUSIVE = [
  ['exclusiveMinimum', 'minimum', Math.max, (limit: number) => Math.floor(limit) + 1],
  ['exclusiveMaximum', 'maximum', Math.min, (limit: number) => Math.ceil(limit) - 1],
] as const

/**
 * Exclusive bounds as inclusive ones where the dialect has only those: the next whole number, or
 * else the bound itself, with a sentence that it is not reached.
 */
const withInclusiveBounds = (node: JsonSchema, { table, sentences }: Context): JsonSchema => {
  const rules = { ...node }
  for (const [exclusive, inclusive, tighter, next] of EXCLUSIVE) {
    const limit = node[exclusive]
    const isPossible = table.keywords.has(inclusive) && !table.keywords.has(exclusive)
    if (typeof limit !== 'number' || !isPossible) continue
    const isWhole = mainType(node) === 'integer' && Number.isSafeInteger(next(limit))
    if (!isWhole) sentences.push(...say(node, [exclusive]))
    const bound = isWhole ? next(limit) : limit
    const given = node[inclusive]
    rules[inclusive] = typeof given === 'number' ? tighter(given, bound) : bound
    delete rules[exclusive]
  }
  return rules
}

/**
 * Puts the values that an `enum` names, of the schema's own type, into its body; false where there
 * is none. Where the dialect's `enum` can't hold them they are told.
 */
export const lowerEnum = (
  node: JsonSchema,
  body: JsonSchema,
  { table, sentences }: Context,
): boolean => {
  if (!Array.isArray(node.enum)) return true
  const types = [node.type].flat() as JsonType[]
  const values = node.enum.filter(value => types.some(type => admits(type, value)))
  if (values.length === 0) return false
  const type = mainType(node)
  if (type === 'null') return true
  if (table.enumTypes.has(type)) body.enum = values
  else sentences.push(...say({ enum: values }))
  return true
}
