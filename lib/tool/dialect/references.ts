import { isObject, isSchema, type JsonSchema, type Schema } from './json-schema.ts'

/** What a reference names: its place, always a pointer from the root, and the schema there. */
export type Target = { pointer: string; schema: Schema }
export type Resolve = (reference: string) => Target | undefined

/** Finds what references within a schema name; undefined for what is elsewhere or nowhere. */
export const resolver = (root: JsonSchema): Resolve => {
  let anchors: Map<string, Target> | undefined
  return reference => {
    const own = typeof root.$id === 'string' ? root.$id : undefined
    const local = own && reference.startsWith(own) ? reference.slice(own.length) || '#' : reference
    if (!local.startsWith('#')) return undefined
    const fragment = decoded(local.slice(1))
    if (fragment === '') return { pointer: '#', schema: root }
    if (fragment.startsWith('/')) return at(root, fragment)
    anchors ??= anchorsIn(root)
    return anchors.get(fragment)
  }
}

const decoded = (fragment: string): string => {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

const at = (root: JsonSchema, pointer: string): Target | undefined => {
  let place: unknown = root
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(place)) place = place[Number(key)]
    else if (isObject(place) && Object.hasOwn(place, key)) place = place[key]
    else return undefined
  }
  return isSchema(place) ? { pointer: `#${pointer}`, schema: place } : undefined
}

/** Without recursion: a schema may be nested deeper than the stack. */
const anchorsIn = (root: JsonSchema): Map<string, Target> => {
  const anchors = new Map<string, Target>()
  const places: { pointer: string; value: unknown }[] = [{ pointer: '#', value: root }]
  for (let place = places.pop(); place; place = places.pop()) {
    const { pointer, value } = place
    if (typeof value !== 'object' || value === null) continue
    if (isObject(value))
      for (const name of [value.$anchor, value.$dynamicAnchor])
        if (typeof name === 'string') anchors.set(name, { pointer, schema: value })
    for (const [key, part] of Object.entries(value))
      places.push({ pointer: `${pointer}/${escaped(key)}`, value: part })
  }
  return anchors
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** The names in `$defs` that a written schema refers to, in order. */
export const referencesIn = (written: JsonSchema): Set<string> => {
  const names = new Set<string>()
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const { $ref } = part as JsonSchema
    if (typeof $ref === 'string') names.add($ref.replace('#/$defs/', ''))
    for (const inner of Object.values(part)) visit(inner)
  }
  visit(written)
  return names
}

/** The name of what a pointer names, as a person would say it: its last part. */
export const nameAt = (pointer: string): string =>
  pointer === '#' ? 'root' : (pointer.split('/').at(-1) ?? '').replaceAll('~1', '/')
