/** A route as it is deployed: `path` may hold `{name}` and, last, `{name+}` for all that follows. */
export type ApiRoute = { method: string; path: string; functionName: string }

export type Match =
  | { kind: 'route'; route: ApiRoute; parameters: Record<string, string> }
  | { kind: 'other-method'; path: string; allow: string[] }
  | { kind: 'none' }

type Segment = { kind: 'literal' | 'parameter' | 'greedy'; name: string }

/** Finds the most specific route of a method and a raw path, as API Gateway chooses. */
export const matcherOf = (routes: ApiRoute[]): ((method: string, rawPath: string) => Match) => {
  const parsed = routes
    .map(route => ({ route, segments: route.path.split('/').map(parseSegment) }))
    .toSorted((one, other) => (rank(one.segments) < rank(other.segments) ? -1 : 1))

  return (method, rawPath) => {
    const parts = rawPath.split('/')
    const candidates = parsed.flatMap(({ route, segments }) => {
      const parameters = read(segments, parts)
      return parameters ? [{ route, parameters }] : []
    })
    const [first] = candidates
    if (!first) return { kind: 'none' }
    const chosen =
      candidates.find(({ route }) => route.method === method) ??
      candidates.find(({ route }) => route.method === 'ANY')
    if (chosen) return { kind: 'route', ...chosen }
    const allow = [...new Set(candidates.map(({ route }) => route.method))]
    return { kind: 'other-method', path: first.route.path, allow }
  }
}

const parseSegment = (text: string): Segment => {
  const [, name, plus] = /^\{([^}+]+)(\+?)\}$/.exec(text) ?? []
  if (name === undefined) return { kind: 'literal', name: text }
  return { kind: plus ? 'greedy' : 'parameter', name }
}

const RANKS = { literal: '0', parameter: '1', greedy: '2' } as const

/** Sorts the more specific before the less, from left to right. */
const rank = (segments: Segment[]): string => segments.map(({ kind }) => RANKS[kind]).join('')

/** The path's parameters, decoded, or undefined where the path is another one. */
const read = (segments: Segment[], parts: string[]): Record<string, string> | undefined => {
  const parameters: [string, string][] = []
  for (const [index, { kind, name }] of segments.entries()) {
    const part = parts[index]
    if (part === undefined) return undefined
    if (kind === 'greedy') {
      const rest = parts.slice(index).join('/')
      return rest === '' ? undefined : Object.fromEntries([...parameters, [name, decode(rest)]])
    }
    if (kind === 'literal' && decode(part) !== name) return undefined
    if (kind === 'parameter' && part === '') return undefined
    if (kind === 'parameter') parameters.push([name, decode(part)])
  }
  return parts.length === segments.length ? Object.fromEntries(parameters) : undefined
}

/** Percent-decoded text; what is encoded wrongly stays as it came. */
export const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
