import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { seal } from '../../../lib/principal/sealed.ts'
import { MAX_RETURN_PATH_BYTES, returnPath } from '../../../lib/principal/sign-in.ts'

/** What browsers keep of one cookie at least, with its name and attributes (RFC 6265, 6.1). */
const MAX_COOKIE_BYTES = 4_096
const MAX_INVITATION_CHARS = 200

const pathOf = (bytes: number, character: string) =>
  `/${character.repeat(Math.floor((bytes - 1) / Buffer.byteLength(character)))}`

test.each(['x', 'ü', '伊', '😀'])('a path of %s is so long in bytes and no longer', character => {
  const longest = pathOf(MAX_RETURN_PATH_BYTES, character)
  expect(returnPath(longest, '/docs')).toBe(longest)
  expect(returnPath(longest + character, '/docs')).toBe('/docs')
})

test('the longest one fits into a browser’s cookie with all that is kept beside it', () => {
  process.env.ESPALIER_LINK_KEYS = `v1:${randomBytes(32).toString('base64')}`
  const secret = 'x'.repeat(43)
  const kept = {
    state: secret,
    nonce: secret,
    verifier: secret,
    returnTo: pathOf(MAX_RETURN_PATH_BYTES, '"'),
    invitation: 'x'.repeat(MAX_INVITATION_CHARS),
    expiresAt: new Date().toISOString(),
  }
  const cookie = `__Host-espalier-sign-in=${seal(JSON.stringify(kept))}; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax`
  expect(cookie.length).toBeLessThan(MAX_COOKIE_BYTES)
})

test.each([
  '//evil.example',
  '/\\evil.example',
  '/\\/evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/\u2028/evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  '/ a',
  '',
])('%j leads nowhere but where people usually go', text => {
  expect(returnPath(text, '/docs')).toBe('/docs')
})
