import type { Attributes, AttributeValue, Span } from './span.ts'

// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: the JSON of protocol buffers,
// but for ids, which are hexadecimal, and enums, which are numbers; 64-bit integers are strings.
// The messages: opentelemetry-proto, opentelemetry/proto/trace/v1/trace.proto.

const KINDS = { internal: 1, client: 3 } as const
const STATUS_UNSET = 0
const STATUS_ERROR = 2
/** https://www.w3.org/TR/trace-context-2/#trace-flags: sampled. */
const SAMPLED = 1

const SCOPE = { name: 'espalier' }

/** Spans as the body of a request to an OTLP receiver's `/v1/traces`. */
export const encodeSpans = (spans: readonly Span[], resource: Attributes) => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: SCOPE, spans: spans.map(spanOf) }],
    },
  ],
})

const spanOf = ({ parentSpanId, events = [], links = [], ...span }: Span) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(parentSpanId === undefined ? {} : { parentSpanId }),
  flags: SAMPLED,
  name: span.name,
  kind: KINDS[span.kind],
  startTimeUnixNano: nanosecondsOf(span.startedAt),
  // Clocks of two functions may differ: a span that ended before it began is refused by some.
  endTimeUnixNano: nanosecondsOf(Math.max(span.startedAt, span.endedAt)),
  attributes: attributesOf(span.attributes),
  events: events.map(({ name, at, attributes = {} }) => ({
    timeUnixNano: nanosecondsOf(at),
    name,
    attributes: attributesOf(attributes),
  })),
  links: links.map(({ traceId, spanId, attributes }) => ({
    traceId,
    spanId,
    attributes: attributesOf(attributes),
    flags: SAMPLED,
  })),
  status: { code: span.isError ? STATUS_ERROR : STATUS_UNSET },
})

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValueOf(value) }],
  )

const anyValueOf = (value: AttributeValue) => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'object')
    return { arrayValue: { values: value.map(stringValue => ({ stringValue })) } }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

const nanosecondsOf = (milliseconds: number): string =>
  `${BigInt(Math.round(milliseconds)) * 1_000_000n}`
