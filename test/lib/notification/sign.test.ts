import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { newSecret, signaturesOf } from '../../../lib/notification/sign.ts'

it('signs as the vector of the standard’s own libraries has it', () => {
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: '{"test": 2432232314}',
  }
  expect(signaturesOf(message, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

it('makes secrets of 32 bytes, none like another', () => {
  const secrets = Array.from({ length: 50 }, newSecret)
  expect(new Set(secrets).size).toBe(50)
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32)
  }
})

it('signs whatever a body holds so that the published library takes it, and nothing else', () => {
  const timestampSeconds = Math.floor(Date.now() / 1_000)
  fc.assert(
    fc.property(fc.json(), fc.ulid(), (body, ulid) => {
      const [current, previous, foreign] = [newSecret(), newSecret(), newSecret()]
      const id = `delivery_${ulid}`
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signaturesOf({ id, timestampSeconds, body }, [current, previous]),
      }
      const verify = (secret: string, text = body, more = {}) =>
        new Webhook(secret).verify(text, { ...headers, ...more })
      for (const secret of [current, previous]) expect(() => verify(secret)).not.toThrow()
      expect(() => verify(foreign)).toThrow()
      expect(() => verify(current, `${body} `)).toThrow()
      expect(() => verify(current, body, { 'webhook-id': `${id}1` })).toThrow()
      const later = { 'webhook-timestamp': String(timestampSeconds + 1) }
      expect(() => verify(current, body, later)).toThrow()
    }),
    { numRuns: 50 },
  )
})
