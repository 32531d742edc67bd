import { type Context, within } from './context.ts'
import { distinct, type JsonSchema, type Schema, schemasIn } from './json-schema.ts'
import { lowerEnum } from './lower-scalar.ts'
import { say, told } from './say.ts'

const TOLD = ['uniqueItems', 'contains', 'unevaluatedItems']

/** A list; it always says what its items are, since providers refuse it otherwise. */
export const lowerArray = (node: JsonSchema, context: Context): JsonSchema | undefined => {
  const { table, sentences } = context
  const body: JsonSchema = { type: 'array' }
  if (!lowerEnum(node, body, context)) return undefined
  const prefix = schemasIn(node.prefixItems)
  if (prefix.length > 0) sentences.push(...say({ prefixItems: prefix }))
  const hasRest = node.items !== false && prefix.length < Number(node.maxItems ?? Infinity)
  const rest = (node.items ?? true) as Schema
  const all = distinct([...prefix, ...(hasRest ? [rest] : [])])
  const isTold = prefix.length > 0 && hasRest && rest !== true
  if (isTold) sentences.push(`Then items that match ${told(rest)}.`)
  const items = context.write(
    joined(all),
    within(context, { isCopy: context.isCopy || prefix.length > 0 }),
  )
  body.items = items ?? {}
  const bounds = { ...node, ...atMost(node, items === undefined) }
  for (const keyword of ['minItems', 'maxItems'] as const) {
    if (bounds[keyword] === undefined) continue
    if (table.keywords.has(keyword)) body[keyword] = bounds[keyword]
    else sentences.push(...say(bounds, [keyword]))
  }
  sentences.push(...say(node, TOLD))
  return body
}

/** One schema for the items of a tuple; where one may be anything, each may. */
const joined = (schemas: Schema[]): Schema => {
  const [only = true] = schemas
  if (schemas.length <= 1) return only
  return schemas.includes(true) ? true : { anyOf: schemas }
}

/** The longest list that `items: false`, or items that can't be, leave. */
const atMost = (node: JsonSchema, isEmpty: boolean): JsonSchema => {
  const rest = node.items === false ? schemasIn(node.prefixItems).length : Infinity
  const limit = isEmpty ? 0 : rest
  return limit < Number(node.maxItems ?? Infinity) ? { maxItems: limit } : {}
}
