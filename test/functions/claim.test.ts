import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { listAudit } from '../../lib/audit/audit.ts'
import { MIN_CLAIM_CHARS } from '../../lib/principal/claim.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, snapshot } from '../world.ts'

useWorld()

let secret: string
beforeEach(() => {
  secret = randomBytes(32).toString('base64')
  vi.stubEnv('ESPALIER_RATE_LIMITS', 'key=off, address=off, everyone=off')
  vi.stubEnv('ESPALIER_CLAIM_SECRET', secret)
})
afterEach(() => vi.unstubAllEnvs())

type Claimed = { user_id: string; key_id: string; key: string }
const claim = (body: object) => world.request('POST', '/api/v1/claim', { key: null, body })

describe('a claim', () => {
  it('gives whoever deployed the instance an admin and a key that may decide', async () => {
    const answer = await claim({ secret, name: 'Ada' })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { user_id, key_id, key } = dataOf<Claimed>(answer)
    expect(dataOf(await world.request('GET', '/api/v1/principals/me', { key }))).toMatchObject({
      id: user_id,
      key_id,
      role: 'admin',
      scopes: ['decide'],
    })
    const { items } = await listAudit('instance', { limit: 1 })
    expect(items).toEqual([
      expect.objectContaining({ action: 'instance-claimed', by: user_id, target: user_id }),
    ])
  })

  it('counts once for each secret, however many try at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => claim({ secret })))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, ...Array.from({ length: 7 }, () => 409)])
    const before = await snapshot()
    const again = await claim({ secret })
    expect(again.status).toBe(409)
    expect(again.body.error?.code).toBe('INVALID_STATE')
    expect(await snapshot()).toEqual(before)
    // Who lost the key deploys another secret.
    vi.stubEnv('ESPALIER_CLAIM_SECRET', `${secret}-another`)
    expect((await claim({ secret: `${secret}-another` })).status).toBe(201)
    expect((await claim({ secret })).status).toBe(404)
  })

  it('of another secret, or where there is none, is told alike that there is nothing', async () => {
    const before = await snapshot()
    for (const wrong of [`${secret}x`, secret.slice(1), secret.toUpperCase(), 'x', ' '])
      expect((await claim({ secret: wrong })).status).toBe(404)
    vi.stubEnv('ESPALIER_CLAIM_SECRET', '')
    expect((await claim({ secret: ' ' })).status).toBe(404)
    expect((await claim({ secret: '' })).status).toBe(422)
    expect((await claim({ secret, role: 'admin' })).status).toBe(422)
    expect(await snapshot()).toEqual(before)
  })

  it('of a secret that someone could guess is refused', async () => {
    const short = 'x'.repeat(MIN_CLAIM_CHARS - 1)
    vi.stubEnv('ESPALIER_CLAIM_SECRET', short)
    const answer = await claim({ secret: short })
    expect(answer.body.error).toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringContaining(`${MIN_CLAIM_CHARS} characters`),
    })
    vi.stubEnv('ESPALIER_CLAIM_SECRET', `${short}x`)
    expect((await claim({ secret: `${short}x` })).status).toBe(201)
  })

  it('leaves neither the secret nor the key in a row or a log', async () => {
    const { key } = dataOf<Claimed>(await claim({ secret }))
    await claim({ secret })
    const everything = JSON.stringify([await snapshot(), world.logs])
    for (const text of [secret, key, key.split('_').slice(4).join('_')]) {
      expect(text.length).toBeGreaterThan(40)
      expect(everything).not.toContain(text)
    }
  })
})
