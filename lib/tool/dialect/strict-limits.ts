import { isObject, type JsonSchema } from './json-schema.ts'
import { STRICT_LIMITS } from './tables.ts'

/** Whether a schema keeps within OpenAI's limits of properties, levels, values and characters. */
export const isWithinLimits = (schema: JsonSchema): boolean => {
  const count = { properties: 0, enumValues: 0, chars: 0, levels: 0 }
  let hasLongEnum = false
  const open: { part: unknown; level: number }[] = [{ part: schema, level: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { part, level: above } = next
    if (!isObject(part)) continue
    const level = part.type === 'object' ? above + 1 : above
    count.levels = Math.max(count.levels, level)
    const values = Array.isArray(part.enum) ? part.enum : []
    const texts = values.filter(value => typeof value === 'string')
    const chars = lengthOf(texts)
    count.enumValues += values.length
    count.chars += chars
    const { longEnum } = STRICT_LIMITS
    if (texts.length > longEnum.values && chars > longEnum.chars) hasLongEnum = true
    const named = [part.properties, part.$defs].filter(isObject)
    for (const group of named) count.chars += lengthOf(Object.keys(group))
    if (isObject(part.properties)) count.properties += Object.keys(part.properties).length
    for (const group of named)
      for (const inner of Object.values(group)) open.push({ part: inner, level })
    open.push({ part: part.items, level })
    if (Array.isArray(part.anyOf)) for (const inner of part.anyOf) open.push({ part: inner, level })
  }
  return (
    !hasLongEnum &&
    count.properties <= STRICT_LIMITS.properties &&
    count.levels <= STRICT_LIMITS.levels &&
    count.enumValues <= STRICT_LIMITS.enumValues &&
    count.chars <= STRICT_LIMITS.chars
  )
}

const lengthOf = (texts: string[]): number => texts.reduce((sum, text) => sum + text.length, 0)
