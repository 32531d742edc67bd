import { isObject, type JsonSchema, namesIn, omit } from './json-schema.ts'
import { say } from './say.ts'

/** Characters of an argument's name, where a provider limits them. */
const MAX_NAME_CHARS = 64

/** The aliases of the arguments whose names a provider refuses, by name. */
export type Renames = ReadonlyMap<string, string>

/** An alias within the pattern for each argument that needs one; none is another one's name. */
export const renamesOf = (root: JsonSchema, pattern: RegExp | undefined): Renames => {
  const renames = new Map<string, string>()
  const { properties, required, dependentRequired } = root
  const declared = isObject(properties) ? Object.keys(properties) : []
  const names = new Set([...declared, ...namesIn(required)])
  const dependent = isObject(dependentRequired) ? Object.entries(dependentRequired) : []
  const taken = new Set([
    ...names,
    ...dependent.flatMap(([name, list]) => [name, ...namesIn(list)]),
  ])
  for (const name of names) {
    if (!pattern || pattern.test(name)) continue
    const safe = name.replace(/[^a-zA-Z0-9_.-]/g, '_').replace(/^(?![a-zA-Z_])/, '_')
    const plain = pattern.test(safe) ? safe : safe.replace(/[.-]/g, '_')
    let alias = plain.slice(0, MAX_NAME_CHARS)
    for (let count = 2; taken.has(alias); count++) {
      const end = `_${count}`
      alias = `${plain.slice(0, MAX_NAME_CHARS - end.length)}${end}`
    }
    taken.add(alias)
    renames.set(name, alias)
  }
  return renames
}

/** Keywords that speak of properties by their names, and can't be made to mean the aliases. */
const BY_NAME = ['patternProperties', 'propertyNames', 'dependentSchemas']
const OTHERS = ['additionalProperties', 'unevaluatedProperties']

/** The root with the aliases in place of the names, and what is told since it can't be said. */
export const renamed = (
  node: JsonSchema,
  renames: Renames,
): { node: JsonSchema; notes: string[] } => {
  if (renames.size === 0) return { node, notes: [] }
  const alias = (name: string) => renames.get(name) ?? name
  // What is left over for the others to say depends on what these say.
  const dependent = ['patternProperties', 'dependentSchemas'].some(keyword => keyword in node)
  const left = [...BY_NAME, ...(dependent ? OTHERS : [])]
  const kept = omit(node, ...left)
  const byAlias = (value: unknown, map = (part: unknown) => part) =>
    Object.fromEntries(
      Object.entries(value as JsonSchema).map(([name, part]) => [alias(name), map(part)]),
    )
  if (isObject(kept.properties)) kept.properties = byAlias(kept.properties)
  if (kept.required) kept.required = namesIn(kept.required).map(alias)
  if (isObject(kept.dependentRequired))
    kept.dependentRequired = byAlias(kept.dependentRequired, names => namesIn(names).map(alias))
  const meanings = [...renames].map(([name, other]) => `${other} stands for "${name}".`)
  return { node: kept, notes: [...meanings, ...say(node, left)] }
}

type Values = Record<string, unknown>

/**
 * Arguments with the aliases in place of the names, and back. Where other properties may be there,
 * one may be called like an alias: it changes places with the name, so that nothing is lost. Where
 * they may not, a model that uses the name itself is understood.
 */
export const renaming = (renames: Renames, isOpen: boolean) => {
  const names = new Map([...renames].map(([name, alias]) => [alias, name]))
  const swap = (name: string) => renames.get(name) ?? names.get(name) ?? name
  const map = (values: Values, change: (name: string) => string): Values =>
    renames.size === 0
      ? values
      : Object.fromEntries(Object.entries(values).map(([name, value]) => [change(name), value]))
  const restore = (values: Values) =>
    map(values, alias => {
      const name = names.get(alias)
      // Of both, neither is dropped: the alias is then an argument that nobody knows.
      return name === undefined || Object.hasOwn(values, name) ? alias : name
    })
  return {
    toWire: (values: Values) => map(values, swap),
    fromWire: (values: Values) => (isOpen ? map(values, swap) : restore(values)),
  }
}
