import type { Context } from './context.ts'
import { admits, type JsonSchema, type JsonType, KEYWORDS_OF_TYPE } from './json-schema.ts'
import { say } from './say.ts'
import type { Table } from './tables.ts'

/** A text, number, boolean or null; what the dialect has no word for goes to the sentences. */
export const lowerScalar = (
  type: JsonType,
  node: JsonSchema,
  { table }: Context,
  sentences: string[],
): JsonSchema | undefined => {
  const body: JsonSchema = { type }
  if (!lowerEnum(type, node, { table, body, sentences })) return undefined
  const isNumber = type === 'number' || type === 'integer'
  if (!isNumber && type !== 'string') return body
  const rules = isNumber ? withInclusiveBounds(type, node, { table, sentences }) : node
  for (const keyword of KEYWORDS_OF_TYPE[isNumber ? 'number' : 'string']) {
    if (!(keyword in rules)) continue
    if (isTaken(keyword, rules[keyword], table)) body[keyword] = rules[keyword]
    else sentences.push(...say(rules, [keyword]))
  }
  return body
}

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
const withInclusiveBounds = (
  type: JsonType,
  node: JsonSchema,
  { table, sentences }: { table: Table; sentences: string[] },
): JsonSchema => {
  const rules = { ...node }
  for (const [exclusive, inclusive, tighter, next] of EXCLUSIVE) {
    const limit = node[exclusive]
    const isPossible = table.keywords.has(inclusive) && !table.keywords.has(exclusive)
    if (typeof limit !== 'number' || !isPossible) continue
    const isWhole = type === 'integer' && Number.isSafeInteger(next(limit))
    if (!isWhole) sentences.push(...say(node, [exclusive]))
    const bound = isWhole ? next(limit) : limit
    const given = node[inclusive]
    rules[inclusive] = typeof given === 'number' ? tighter(given, bound) : bound
    delete rules[exclusive]
  }
  return rules
}

/**
 * The values that an `enum` names, of one type; false where there is none. Where the dialect's
 * `enum` can't hold them they are told.
 */
export const lowerEnum = (
  type: JsonType,
  node: JsonSchema,
  { table, body, sentences }: { table: Table; body: JsonSchema; sentences: string[] },
): boolean => {
  if (!Array.isArray(node.enum)) return true
  const isNullable = Array.isArray(node.type) && node.type.includes('null') && table.hasTypeLists
  const values = node.enum.filter(
    value => admits(type, value) || (isNullable && value === null && type !== 'null'),
  )
  if (values.length === 0) return false
  if (type === 'null') return true
  if (table.enumTypes.has(type)) body.enum = values
  else sentences.push(...say({ enum: values }))
  return true
}
