/** What of JSONPath our state machine uses: `$`, and names with points between them. */
const PATH = /^\$(\.[A-Za-z_]\w*)*$/

/** What a path leads to; undefined where it leads nowhere. */
export const resolvePath = (data: unknown, path: string): unknown => {
  if (!PATH.test(path)) throw new Error(`The simulation can't read the path ${path}: teach it.`)
  return path
    .split('.')
    .slice(1)
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null ? value[name as never] : undefined,
      data,
    )
}

/** The input with a state's result at its path: null leaves the input as it was. */
export const setPath = (
  data: unknown,
  path: string | null | undefined,
  value: unknown,
): unknown => {
  if (path === null) return data
  if (path === undefined || path === '$') return value
  const [, name, ...deeper] = path.split('.')
  if (!PATH.test(path) || name === undefined || deeper.length > 0)
    throw new Error(`The simulation can't write to the path ${path}: teach it.`)
  return { ...(data as object), [name]: value }
}

type Filled = { value: unknown } | { missing: string }

/** A template filled in: what a name with `.$` at its end says is a path. */
export const templateOf = (template: unknown, data: unknown, context: unknown): Filled => {
  if (typeof template !== 'object' || template === null) return { value: template }
  const entries: [string, unknown][] = []
  for (const [name, within] of Object.entries(template)) {
    const filled = name.endsWith('.$')
      ? pathIn(String(within), data, context)
      : templateOf(within, data, context)
    if ('missing' in filled) return filled
    entries.push([name.replace(/\.\$$/, ''), filled.value])
  }
  return { value: Object.fromEntries(entries) }
}

const pathIn = (path: string, data: unknown, context: unknown): Filled => {
  const value = path.startsWith('$$.')
    ? resolvePath(context, path.slice(1))
    : resolvePath(data, path)
  return value === undefined ? { missing: path } : { value }
}
