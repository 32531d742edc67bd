import { afterAll, beforeAll, expect, it } from 'vitest'
import { getObject, putObject } from '../../../lib/data/objects.ts'
import { deleteObjects, MAX_KEYS, removeObjects } from '../../../lib/data/remove-objects.ts'
import { startTestStack } from '../../stack.ts'

let stack: Awaited<ReturnType<typeof startTestStack>>
beforeAll(async () => {
  stack = await startTestStack()
})
afterAll(() => stack.stop())

const put = (key: string) => putObject(key, key, 'text/plain')
const areThere = async (...keys: string[]) =>
  (await Promise.all(keys.map(getObject))).map(bytes => bytes !== undefined)

it.each([MAX_KEYS - 1, MAX_KEYS, MAX_KEYS + 1])(
  'removes %i objects that begin alike, and no other',
  async count => {
    const keys = Array.from({ length: count }, (_, index) => `large/task_A/${index}`)
    for (let from = 0; from < count; from += 50)
      await Promise.all(keys.slice(from, from + 50).map(put))
    await put('large/task_AB/0')
    await removeObjects('large/task_A/')
    expect(await areThere(keys[0] ?? '', keys.at(-1) ?? '', 'large/task_AB/0')).toEqual([
      false,
      false,
      true,
    ])
  },
)

it('removes what is named, in as many requests as it takes, whether or not it is there', async () => {
  await Promise.all([put('a'), put('b'), put('c')])
  await deleteObjects([
    'a',
    ...Array.from({ length: MAX_KEYS }, (_, index) => `none/${index}`),
    'b',
  ])
  expect(await areThere('a', 'b', 'c')).toEqual([false, false, true])
  await deleteObjects([])
})
