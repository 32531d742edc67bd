import { randomBytes } from 'node:crypto'
import { beforeEach, expect, it, vi } from 'vitest'
import { newId } from '../../../lib/core/ids.ts'
import { rotateSecret } from '../../../lib/notification/rotate-secret.ts'
import { signingSecrets, subscriptionSource } from '../../../lib/notification/secrets.ts'
import { getSubscription } from '../../../lib/notification/subscription.ts'
import { rotate, survey } from '../../../lib/settings/rotate.ts'
import { useLocalTable } from '../../local-table.ts'
import { subscribe } from './subscribed.ts'

useLocalTable()

const ring = (version: string) => `${version}:${randomBytes(32).toString('base64')}`
const [old, current] = [ring('v1'), ring('v2')]
const useKeys = (...keys: string[]) => vi.stubEnv('ESPALIER_SETTINGS_KEYS', keys.join(','))
beforeEach(() => useKeys(old))

const rotated = async () => {
  const user = newId('user')
  const { subscription, secret } = await subscribe(user)
  const next = await rotateSecret(subscription, { by: user })
  return { id: subscription.id, secrets: [next?.secret, secret] }
}

it('outlive the keys that seal them: what is sealed anew opens with the new key alone', async () => {
  const { id, secrets } = await rotated()
  useKeys(current, old)
  expect((await survey([subscriptionSource])).byVersion).toEqual({ v1: 2, v2: 0 })
  expect(await rotate([subscriptionSource])).toMatchObject({ reencrypted: 2 })
  expect(await survey([subscriptionSource])).toEqual({
    byVersion: { v1: 0, v2: 2 },
    unreadable: [],
  })
  useKeys(current)
  expect(signingSecrets(await getSubscription(id))).toEqual(secrets)
})

it('open for the subscription that they were made for, in their own place, and nowhere else', async () => {
  const [one, other] = [await rotated(), await rotated()]
  const [mine, theirs] = [await getSubscription(one.id), await getSubscription(other.id)]
  const { secret, previousSecret } = mine
  if (!secret || !previousSecret) throw new Error('There are no secrets.')
  expect(signingSecrets(mine)).toEqual(one.secrets)
  for (const moved of [
    { ...theirs, secret },
    { ...mine, principalId: theirs.principalId },
    { ...mine, secret: previousSecret },
  ])
    expect(() => signingSecrets(moved)).toThrow('Rotate it')
  const swapped = { ...mine, previousSecret: secret }
  expect(signingSecrets(swapped)).toEqual([one.secrets[0]])
})
