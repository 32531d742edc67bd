import { expect, test } from 'vitest'
import { NO_RESULT, result, toResult, toText } from '../../../lib/tool/result.ts'

test.each<[unknown, string]>([
  ['text', 'text'],
  ['', ''],
  [42, '42'],
  [0, '0'],
  [1.5, '1.5'],
  [10n ** 20n, '100000000000000000000'],
  [true, 'true'],
  [false, 'false'],
  [null, NO_RESULT],
  [undefined, NO_RESULT],
  [() => 'x', NO_RESULT],
  [{ a: 1, b: ['x', null] }, '{"a":1,"b":["x",null]}'],
  [[], '[]'],
  [{ big: 10n }, '{"big":"10"}'],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
  [{ toJSON: () => ({ shown: 1 }), hidden: 2 }, '{"shown":1}'],
  [{ toJSON: () => null }, NO_RESULT],
])('the model reads %o as %j', (value, text) => {
  expect(toText(value)).toBe(text)
  expect(toResult(value)).toEqual({ content: text })
})

test('a result keeps what people see apart from what the model reads', () => {
  const returned = result({ content: { found: 2 }, data: { rows: [1, 2] } })
  expect(toResult(returned)).toEqual({ content: '{"found":2}', data: { rows: [1, 2] } })
})

test('a result names the assets, children and handover that it made', () => {
  const links = {
    media: ['media_01ARZ3NDEKTSV4RRFFQ69G5FAV'] as const,
    children: ['task_01ARZ3NDEKTSV4RRFFQ69G5FAV'] as const,
    handover: 'task_01ARZ3NDEKTSV4RRFFQ69G5FAX' as const,
  }
  const { media, children, handover } = links
  const returned = result({ content: 'ok', media: [...media], children: [...children], handover })
  expect(toResult(returned)).toEqual({ content: 'ok', ...links })
})

test.each<[string, object]>([
  ['media', { media: ['media_x'] }],
  ['children', { children: ['media_01ARZ3NDEKTSV4RRFFQ69G5FAV'] }],
  ['a handover', { handover: '' }],
])(
  'a result that names %s by what is no id is an error, which the call then reports',
  (_, links) => {
    expect(() => toResult(result({ content: 'ok', ...links }))).toThrow(
      expect.objectContaining({ message: expect.stringContaining('no id') }),
    )
  },
)

test('data that JSON cannot hold becomes what it can', () => {
  const at = new Date(0) as unknown as string
  expect(toResult(result({ content: 'ok', data: { at } })).data).toEqual({
    at: '1970-01-01T00:00:00.000Z',
  })
})

test('a value that merely looks like a result is data for the model', () => {
  expect(toResult({ content: 'x', data: 'y' })).toEqual({
    content: '{"content":"x","data":"y"}',
  })
})

test('a value that refers to itself is an error, which the call then reports', () => {
  const loop: Record<string, unknown> = {}
  loop.self = loop
  expect(() => toResult(loop)).toThrow(TypeError)
})

test('bytes are told of, and never spelled out as a list of numbers', () => {
  const text = toText(Buffer.from('not for a model'))
  expect(text).toContain('15 bytes')
  expect(text).not.toMatch(/\d+,\d+/)
})
