import { Readable } from 'node:stream'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Json,
  MAX_RESULT_DEPTH,
  MAX_RESULT_SIZE,
  MAX_RESULT_VALUES,
  serialize,
} from '../../../lib/tool/serialize.ts'
import { readStream } from '../../../lib/tool/stream.ts'

const keep = async (bytes: Blob): Promise<Json> => ({
  kept: Buffer.from(await bytes.arrayBuffer()).toString('latin1'),
  type: bytes.type,
  ...(bytes instanceof File ? { name: bytes.name } : {}),
})

const serialized = (value: unknown) => serialize(value, keep)

test('what JSON can hold stays as it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async value => {
      expect(JSON.stringify(await serialized(value))).toBe(JSON.stringify(value))
    }),
  )
})

test('a field may be called as what every object has', async () => {
  const value = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}')
  expect(JSON.stringify(await serialized(value))).toBe(JSON.stringify(value))
})

class Point {
  x = 1
  #hidden = 2
  sum() {
    return this.x + this.#hidden
  }
}

function* countdown() {
  yield 2
  yield { a: 1n }
}

async function* pieces(...values: unknown[]) {
  for (const value of values) yield value
}

test.each<[string, unknown, unknown]>([
  ['undefined', undefined, undefined],
  ['a function', () => 'x', undefined],
  ['a symbol', Symbol('x'), undefined],
  [
    'undefined within',
    { a: undefined, b: [undefined, () => 1, Symbol('x')] },
    { b: [null, null, null] },
  ],
  ['a hole in a list', Object.assign(Array(3), { 0: 1, 2: 3 }), [1, null, 3]],
  ['a big integer', [10n ** 20n], ['100000000000000000000']],
  [
    'numbers that JSON has none of',
    [Number.NaN, Infinity, -Infinity],
    ['NaN', 'Infinity', '-Infinity'],
  ],
  [
    'boxed values',
    [new String('x'), new Number(1), new Boolean(false), Object(1n)],
    ['x', 1, false, '1'],
  ],
  ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['no date', { at: new Date(Number.NaN) }, { at: 'Invalid Date' }],
  ['a regular expression', /a+/gi, '/a+/gi'],
  ['an address', new URL('https://example.com/?a=1'), 'https://example.com/?a=1'],
  ['what says itself what it is', { toJSON: () => ({ shown: 1 }), hidden: 2 }, { shown: 1 }],
  ['a map', new Map([['a', new Map([[1, 2n]])]]), { a: { 1: '2' } }],
  ['a map with other keys', new Map<unknown, unknown>([[{ k: 1 }, 'v']]), [[{ k: 1 }, 'v']]],
  ['a set', new Set([1, new Set(['x'])]), [1, ['x']]],
  ['a generator', countdown(), [2, { a: '1' }]],
  [
    'what has pairs',
    new URLSearchParams('a=1&a=2'),
    [
      ['a', '1'],
      ['a', '2'],
    ],
  ],
  ['an instance', new Point(), { x: 1 }],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ['an error', new TypeError('Bad.'), { name: 'TypeError', message: 'Bad.' }],
  [
    'errors within errors',
    new AggregateError([Object.assign(new Error('a'), { code: 'E' })], 'all', { cause: 'x' }),
    {
      name: 'AggregateError',
      message: 'all',
      cause: 'x',
      errors: [{ name: 'Error', message: 'a', code: 'E' }],
    },
  ],
  ['a promise', { a: Promise.resolve([Promise.resolve(1)]) }, { a: [1] }],
  ['a promise of nothing', { a: Promise.resolve(undefined), b: 1 }, { b: 1 }],
  ['bytes', Buffer.from('abc'), { kept: 'abc', type: '' }],
  ['bytes within', { a: [new Uint8Array([65])] }, { a: [{ kept: 'A', type: '' }] }],
  ['a buffer', new Uint8Array([65, 66]).buffer, { kept: 'AB', type: '' }],
  ['a view of a buffer', new DataView(new Uint8Array([65, 66]).buffer, 1), { kept: 'B', type: '' }],
  ['a part of a buffer', new Uint8Array([65, 66]).subarray(1), { kept: 'B', type: '' }],
  ['numbers in typed arrays', [new Float32Array([0.5]), new BigInt64Array([1n])], [[0.5], ['1']]],
  ['a blob', new Blob(['x'], { type: 'text/css' }), { kept: 'x', type: 'text/css' }],
  ['a file', new File(['x'], 'a.png'), { kept: 'x', type: '', name: 'a.png' }],
  ['a stream of texts', { a: Readable.from(['a', 'b']) }, { a: 'ab' }],
  ['a stream of bytes', new Blob(['ab']).stream(), { kept: 'ab', type: '' }],
  ['a stream of values', pieces('a', { b: 1n }), ['a', { b: '1' }]],
  ['a stream of nothing', pieces(), ''],
  ['an answer in JSON', Response.json({ a: 1 }), { a: 1 }],
  [
    'an answer that is no JSON',
    new Response('{', { headers: { 'content-type': 'application/json' } }),
    '{',
  ],
  ['an answer in text', new Response('hé'), 'hé'],
  ['an answer without a body', new Response(null, { status: 204 }), ''],
  [
    'an answer that tells of a failure',
    Response.json({ a: 1 }, { status: 404 }),
    { status: 404, body: { a: 1 } },
  ],
  [
    'an answer of bytes',
    new Response(new Uint8Array([65]), { headers: { 'content-type': 'image/png' } }),
    { kept: 'A', type: 'image/png' },
  ],
])('%s', async (_, value, json) => {
  expect(await serialized(value)).toEqual(json)
})

test('what contains itself is told, and what merely stands twice is not', async () => {
  const loop: Record<string, unknown> = { a: 1 }
  loop.self = { list: [loop] }
  expect(await serialized(loop)).toEqual({ a: 1, self: { list: ['[contains itself]'] } })
  const twice = { b: 2 }
  expect(await serialized([twice, twice])).toEqual([twice, twice])
  const later: Record<string, unknown> = {}
  later.self = Promise.resolve({ later })
  expect(await serialized(later)).toEqual({ self: { later: '[contains itself]' } })
  const answersItself = { toJSON: () => answersItself }
  expect(await serialized(answersItself)).toBe('[contains itself]')
})

test('an error never brings its stack along', async () => {
  const error = new Error('x', { cause: new Error('y') })
  expect(JSON.stringify(await serialized(error))).not.toContain(import.meta.filename)
})

const nested = (levels: number): unknown => {
  let value: unknown = 'end'
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

test('lists and objects go as deep as a record can hold', async () => {
  expect(JSON.stringify(await serialized(nested(MAX_RESULT_DEPTH)))).toContain('end')
  const deeper = JSON.stringify(await serialized(nested(MAX_RESULT_DEPTH + 1)))
  expect(deeper).toContain('nested too deeply')
  expect(deeper).not.toContain('end')
})

test('a stream of no end is read only as far as a result may go', async () => {
  let read = 0
  const endless = async function* () {
    for (;;) {
      read += 1024 * 1024
      yield 'x'.repeat(1024 * 1024)
    }
  }
  await expect(serialized(endless())).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  expect(read).toBe(MAX_RESULT_SIZE + 1024 * 1024)
})

test('nor is one whose pieces are empty read for ever', async () => {
  const endless = async function* () {
    for (;;) yield ''
  }
  await expect(readStream(endless(), 100)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
})

test.each<[string, () => unknown, () => unknown]>([
  ['text', () => 'x'.repeat(MAX_RESULT_SIZE), () => 'x'.repeat(MAX_RESULT_SIZE + 1)],
  ['bytes', () => Buffer.alloc(MAX_RESULT_SIZE), () => Buffer.alloc(MAX_RESULT_SIZE + 1)],
  [
    'bytes in pieces',
    () => Array(4).fill(Buffer.alloc(MAX_RESULT_SIZE / 4)),
    () => Array(5).fill(Buffer.alloc(MAX_RESULT_SIZE / 4)),
  ],
  ['values', () => Array(MAX_RESULT_VALUES - 1).fill(1), () => Array(MAX_RESULT_VALUES).fill(1)],
  [
    'names of fields',
    () => ({ ['x'.repeat(MAX_RESULT_SIZE)]: 1 }),
    () => ({ ['x'.repeat(MAX_RESULT_SIZE + 1)]: 1 }),
  ],
])('a result has as much %s as fits, and not more', async (_, fits, more) => {
  const count = async (bytes: Blob) => bytes.size
  await expect(serialize(fits(), count)).resolves.toBeDefined()
  await expect(serialize(more(), count)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
})

test('a generator of no end is stopped', async () => {
  const endless = function* () {
    for (;;) yield 1
  }
  await expect(serialized(endless())).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
})
