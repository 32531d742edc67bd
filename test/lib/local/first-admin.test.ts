import { describe, expect, it } from 'vitest'
import { ensureAdmin, MIN_CHOSEN_KEY_CHARS } from '../../../lib/local/first-admin.ts'
import { authenticate } from '../../../lib/principal/caller.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

const ONE = 'chosen-key-number-one'
const TWO = 'chosen-key-number-two'

describe('the first admin', () => {
  it('gets a key at the first start only, which may decide', async () => {
    const { newKey = '' } = await ensureAdmin(undefined)
    expect(await authenticate(newKey)).toMatchObject({ role: 'admin', scopes: ['decide'] })
    expect(await ensureAdmin(undefined)).not.toHaveProperty('newKey')
  })

  it('may choose a key, which takes the place of the one chosen before, and go back to it', async () => {
    await ensureAdmin(ONE)
    await ensureAdmin(TWO)
    await expect(authenticate(ONE)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(await authenticate(TWO)).toMatchObject({ role: 'admin' })
    await ensureAdmin(ONE)
    expect(await authenticate(ONE)).toMatchObject({ role: 'admin' })
    await expect(authenticate(TWO)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  })

  it('keeps a chosen key over a start without one', async () => {
    await ensureAdmin(ONE)
    await ensureAdmin(undefined)
    expect(await authenticate(ONE)).toMatchObject({ role: 'admin' })
  })

  it('is refused a key that is too short or has a space, and no key changes', async () => {
    await ensureAdmin('x'.repeat(MIN_CHOSEN_KEY_CHARS))
    for (const bad of ['x'.repeat(MIN_CHOSEN_KEY_CHARS - 1), 'a key with spaces in it'])
      await expect(ensureAdmin(bad)).rejects.toMatchObject({ code: 'NOT_CONFIGURED' })
    expect(await authenticate('x'.repeat(MIN_CHOSEN_KEY_CHARS))).toMatchObject({ role: 'admin' })
  })
})
