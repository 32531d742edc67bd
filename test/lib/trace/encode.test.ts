import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeSpans } from '../../../lib/trace/encode.ts'
import { callSpanId, spanIdOf, taskSpanId, traceIdOf } from '../../../lib/trace/ids.ts'
import type { Span } from '../../../lib/trace/span.ts'
import { ExportRequest } from '../../otlp-receiver.ts'

const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.array(fc.string()),
  fc.constant(undefined),
)
const attributes = fc.dictionary(fc.string({ minLength: 1 }), value)
const id = fc.string()
const time = fc.integer({ min: 0, max: 4_102_444_800_000 })
const span: fc.Arbitrary<Span> = fc.record({
  traceId: id.map(traceIdOf),
  spanId: id.map(text => spanIdOf(text)),
  parentSpanId: fc.option(
    id.map(text => callSpanId(text)),
    { nil: undefined },
  ),
  name: fc.string({ minLength: 1 }),
  kind: fc.constantFrom('internal', 'client'),
  startedAt: time,
  endedAt: time,
  attributes,
  isError: fc.boolean(),
  events: fc.array(fc.record({ name: fc.string({ minLength: 1 }), at: time, attributes })),
  links: fc.array(
    fc.record({
      traceId: id.map(traceIdOf),
      spanId: id.map(text => taskSpanId({ id: text })),
      attributes,
    }),
  ),
})

it('makes of any spans what the protocol takes', () => {
  fc.assert(
    fc.property(fc.array(span, { minLength: 1 }), attributes, (spans, resource) => {
      const body = JSON.parse(JSON.stringify(encodeSpans(spans, resource)))
      const told = ExportRequest.parse(body).resourceSpans[0]?.scopeSpans[0]?.spans ?? []
      expect(told.map(({ spanId, name }) => [spanId, name])).toEqual(
        spans.map(({ spanId, name }) => [spanId, name]),
      )
      for (const { startTimeUnixNano, endTimeUnixNano } of told)
        expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano))
    }),
  )
})

it('writes integers as texts, other numbers as they are, and leaves out what is not known', () => {
  const given: Span = {
    traceId: traceIdOf('root'),
    spanId: spanIdOf('one'),
    name: 'one',
    kind: 'client',
    startedAt: 1_764_547_200_123,
    endedAt: 1_764_547_200_124,
    attributes: { tokens: 3, cost: 0.25, isIt: true, why: ['stop'], unknown: undefined },
    isError: true,
  }
  const [told] = encodeSpans([given], {}).resourceSpans[0]?.scopeSpans[0]?.spans ?? []
  expect(told).toMatchObject({
    kind: 3,
    startTimeUnixNano: '1764547200123000000',
    endTimeUnixNano: '1764547200124000000',
    status: { code: 2 },
    attributes: [
      { key: 'tokens', value: { intValue: '3' } },
      { key: 'cost', value: { doubleValue: 0.25 } },
      { key: 'isIt', value: { boolValue: true } },
      { key: 'why', value: { arrayValue: { values: [{ stringValue: 'stop' }] } } },
    ],
  })
  expect(told).not.toHaveProperty('parentSpanId')
})

it('gives each task, each of its lives and each call a span of its own in the tree’s one trace', () => {
  const ids = [
    taskSpanId({ id: 'task_1' }),
    taskSpanId({ id: 'task_1', life: 1 }),
    taskSpanId({ id: 'task_2' }),
    callSpanId('task_1'),
    callSpanId('call_1'),
  ]
  expect(new Set(ids).size).toBe(ids.length)
  expect(taskSpanId({ id: 'task_1', life: 0 })).toBe(ids[0])
  expect(traceIdOf('task_1')).toBe(traceIdOf('task_1'))
})
