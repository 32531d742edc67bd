import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as z from 'zod'

// opentelemetry-proto 1.x, opentelemetry/proto/{collector/trace,trace,resource,common}/v1, in the JSON
// of https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding, and no field more than we send.

const TraceId = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/)
const SpanId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/)
const Fixed64 = z.string().regex(/^\d{1,20}$/)
const AnyValue = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({
    arrayValue: z.strictObject({
      values: z.array(z.strictObject({ stringValue: z.string() })),
    }),
  }),
])
const KeyValues = z
  .array(z.strictObject({ key: z.string().min(1), value: AnyValue }))
  .refine(pairs => new Set(pairs.map(({ key }) => key)).size === pairs.length)
const WireSpan = z.strictObject({
  traceId: TraceId,
  spanId: SpanId,
  parentSpanId: SpanId.optional(),
  flags: z.literal(1),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: Fixed64,
  endTimeUnixNano: Fixed64,
  attributes: KeyValues,
  events: z.array(
    z.strictObject({ timeUnixNano: Fixed64, name: z.string().min(1), attributes: KeyValues }),
  ),
  links: z.array(
    z.strictObject({ traceId: TraceId, spanId: SpanId, attributes: KeyValues, flags: z.int() }),
  ),
  status: z.strictObject({ code: z.int().min(0).max(2) }),
})
export const ExportRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: KeyValues }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string() }),
          spans: z.array(WireSpan).min(1),
        }),
      ),
    }),
  ),
})
type WireSpan = z.infer<typeof WireSpan>

/** A span as a test looks at it: attributes by name, times in milliseconds. */
export type ReceivedSpan = Omit<WireSpan, 'attributes'> & {
  attributes: Record<string, unknown>
  startedAt: number
  endedAt: number
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** What a receiver does with a request: takes it, refuses it, keeps it waiting for ever. */
export type Mood = 'takes' | 'fails' | 'hangs' | 'redirects'

/** A receiver of OTLP over HTTP, which believes nothing that isn't as the protocol says. */
export const startReceiver = async () => {
  const spans: ReceivedSpan[] = []
  const problems: string[] = []
  const texts: string[] = []
  const headers: Record<string, string | string[] | undefined>[] = []
  let mood: Mood = 'takes'
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    texts.push(text)
    headers.push(request.headers)
    if (mood === 'hangs') return
    if (mood === 'fails') return response.writeHead(500).end('no')
    if (mood === 'redirects') return response.writeHead(307, { location: '/elsewhere' }).end()
    if (request.method !== 'POST' || request.url !== '/v1/traces')
      problems.push(`${request.method} ${request.url}`)
    if (request.headers['content-type'] !== 'application/json') problems.push('content-type')
    const parsed = ExportRequest.safeParse(JSON.parse(text))
    if (parsed.error) problems.push(parsed.error.message)
    for (const { scopeSpans } of parsed.data?.resourceSpans ?? [])
      for (const span of scopeSpans.flatMap(scope => scope.spans)) spans.push(read(span))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    problems,
    texts,
    headers,
    become: (next: Mood) => {
      mood = next
    },
    forget: () => {
      for (const list of [spans, problems, texts, headers]) list.length = 0
    },
    close: () => {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    },
  }
}

const read = ({ attributes, ...span }: WireSpan): ReceivedSpan => ({
  ...span,
  attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)])),
  startedAt: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
  endedAt: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
})

const plain = (value: z.infer<typeof AnyValue>): unknown => {
  if ('arrayValue' in value) return value.arrayValue.values.map(({ stringValue }) => stringValue)
  if ('intValue' in value) return Number(value.intValue)
  return Object.values(value)[0]
}

/** The tree as text, in the order of beginnings, two spaces deeper a level; what failed has its kind in brackets. */
export const treeOf = (spans: ReceivedSpan[], parent?: string, depth = 0): string[] =>
  spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .sort((one, other) => one.startedAt - other.startedAt)
    .flatMap(({ spanId, name, attributes, status }) => [
      `${'  '.repeat(depth)}${name}${status.code === 2 ? ` [${attributes['error.type']}]` : ''}`,
      ...treeOf(spans, spanId, depth + 1),
    ])
