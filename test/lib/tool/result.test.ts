import { expect, test } from 'vitest'
import type { Id } from '../../../lib/core/ids.ts'
import { type Keeper, NO_RESULT, result, toResult } from '../../../lib/tool/result.ts'

const MEDIA: Id<'media'> = 'media_01ARZ3NDEKTSV4RRFFQ69G5FAV'
const OTHER: Id<'media'> = 'media_01ARZ3NDEKTSV4RRFFQ69G5FAX'
const TASK: Id<'task'> = 'task_01ARZ3NDEKTSV4RRFFQ69G5FAV'

const keep: Keeper = async bytes => ({
  json: { media_id: MEDIA, bytes: bytes.size },
  mediaId: MEDIA,
})
const resultOf = (value: unknown) => toResult(value, keep)

test.each<[unknown, string]>([
  ['text', 'text'],
  ['', ''],
  [42, '42'],
  [0, '0'],
  [-0.5, '-0.5'],
  [10n ** 20n, '100000000000000000000'],
  [true, 'true'],
  [false, 'false'],
  [null, NO_RESULT],
  [undefined, NO_RESULT],
  [() => 'x', NO_RESULT],
  [{ toJSON: () => null }, NO_RESULT],
  [{ a: 1, b: ['x', null] }, '{"a":1,"b":["x",null]}'],
  [[], '[]'],
])('the model reads %o as %j', async (value, text) => {
  expect(await resultOf(value)).toEqual({ content: text })
  expect(await resultOf(result({ content: value }))).toEqual({ content: text })
})

test('a result keeps what people see apart from what the model reads', async () => {
  const returned = result({ content: { found: 2 }, data: { rows: [1, new Date(0)] } })
  expect(await resultOf(returned)).toEqual({
    content: '{"found":2}',
    data: { rows: [1, '1970-01-01T00:00:00.000Z'] },
  })
  expect(await resultOf(result({ content: 'ok', data: null }))).toEqual({
    content: 'ok',
    data: null,
  })
})

test('a result names the assets, children and handover that it made', async () => {
  const links = { media: [OTHER], children: [TASK], handover: TASK }
  expect(await resultOf(result({ content: 'ok', ...links }))).toEqual({ content: 'ok', ...links })
})

test('bytes become an asset, wherever in a result they are', async () => {
  const bytes = Buffer.from('abc')
  const asset = { media_id: MEDIA, bytes: 3 }
  expect(await resultOf(bytes)).toEqual({ content: JSON.stringify(asset), media: [MEDIA] })
  expect(await resultOf(result({ content: 'ok', data: { bytes } }))).toEqual({
    content: 'ok',
    data: { bytes: asset },
    media: [MEDIA],
  })
  const named = result({ content: 'ok', media: [OTHER, bytes, new File([bytes], 'a.png')] })
  expect(await resultOf(named)).toEqual({ content: 'ok', media: [OTHER, MEDIA] })
})

test.each<[string, object]>([
  ['media', { media: ['media_x'] }],
  ['children', { children: [MEDIA] }],
  ['a handover', { handover: '' }],
])(
  'a result that names %s by what is no id is an error, which the call then reports',
  async (_, links) => {
    await expect(resultOf(result({ content: 'ok', ...links }))).rejects.toThrow(/no id/)
  },
)

test('a value that merely looks like a result is data for the model', async () => {
  expect(await resultOf({ content: 'x', data: 'y' })).toEqual({
    content: '{"content":"x","data":"y"}',
  })
})
