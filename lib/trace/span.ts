export type AttributeValue = string | number | boolean | readonly string[]
/** Names of the semantic conventions or, where they have none, `espalier.…`; `undefined` adds none. */
export type Attributes = Record<string, AttributeValue | undefined>

/** One span that has ended. Times are milliseconds since 1970, as our clocks tell them. */
export type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string | undefined
  name: string
  /** `client` where another service was asked. */
  kind: 'internal' | 'client'
  startedAt: number
  endedAt: number
  attributes: Attributes
  /** It did not do what it was for. */
  isError?: boolean
  events?: { name: string; at: number; attributes?: Attributes }[]
  links?: { traceId: string; spanId: string; attributes: Attributes }[]
}
