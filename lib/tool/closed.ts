import * as z from 'zod'

type Schema = z.core.$ZodType

/**
 * The same schema with every object in it closed, at any depth: an argument that nobody declared is
 * named in an error, never dropped. What is declared open (`z.looseObject`, `z.record`,
 * `.catchall`) stays open.
 */
export const closed = <T extends Schema>(schema: T): T => {
  const known = closedForms.get(schema)
  if (known) return known as T
  const form = close(schema)
  closedForms.set(schema, form)
  // Closing it again changes nothing.
  closedForms.set(form, form)
  return form as T
}

/** A constant that operations share stays one constant. */
const closedForms = new WeakMap<Schema, Schema>()

const close = (schema: Schema): Schema => {
  const { def } = (schema as z.core.$ZodTypes)._zod
  const withParts = (parts: object): Schema => {
    // A default may be made by a getter, anew each time.
    const own = {
      ...Object.getOwnPropertyDescriptors(def),
      ...Object.getOwnPropertyDescriptors(parts),
    }
    const form = z.clone(schema, Object.defineProperties({}, own) as typeof def)
    const described = z.globalRegistry.get(schema)
    if (described) z.globalRegistry.add(form, described)
    return form
  }
  switch (def.type) {
    case 'object':
      return withParts({
        shape: closedShape(def.shape),
        catchall: def.catchall ? closed(def.catchall) : z.never(),
      })
    case 'array':
      return withParts({ element: closed(def.element) })
    case 'tuple':
      return withParts({ items: def.items.map(closed), rest: def.rest && closed(def.rest) })
    case 'record':
      return withParts({ valueType: closed(def.valueType) })
    case 'union':
      return withParts({ options: def.options.map(closed) })
    case 'optional':
    case 'nullable':
    case 'nonoptional':
    case 'readonly':
    case 'prefault':
    case 'default':
      return withParts({ innerType: closed(def.innerType) })
    case 'lazy':
      // Read once already, it remembers what it read.
      return withParts({ getter: () => closed(def.getter()), _cachedInner: undefined })
    default:
      return schema
  }
}

/** A schema may refer to itself by a getter: each property is closed when it is first read. */
const closedShape = (shape: Readonly<Record<string, Schema>>): Record<string, Schema> => {
  const closedProperties = {}
  for (const name of Object.keys(shape))
    Object.defineProperty(closedProperties, name, {
      get: () => closed(shape[name] as Schema),
      enumerable: true,
      configurable: true,
    })
  return closedProperties
}
