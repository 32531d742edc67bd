import { afterEach, expect, it, vi } from 'vitest'
import { isAllowed, nameOf, verifiedEmail } from '../../../lib/principal/allowed.ts'

afterEach(() => vi.unstubAllEnvs())

const allow = (text: string) => vi.stubEnv('ESPALIER_OIDC_ALLOW', text)
const ADA = {
  email: 'Ada@Example.com',
  email_verified: true,
  hd: 'example.com',
  groups: ['a', 'b'],
}

it('nobody is let in where nothing says who may be', () => {
  allow('')
  expect(isAllowed(ADA)).toBe(false)
  allow(' ; ')
  expect(isAllowed(ADA)).toBe(false)
})

it.each([
  ['hd=example.com', true],
  ['hd=elsewhere.example', false],
  ['hd=example', false],
  ['groups=b', true],
  ['groups=c, b', true],
  ['groups=c', false],
  ['groups=a,b', true],
  ['groups=c; hd=example.com', true],
  ['email_domain=example.com', true],
  ['email_domain=EXAMPLE.COM', true],
  ['email_domain=ample.com', false],
  ['email=ada@example.com', true],
  ['toString=x', false],
  ['__proto__=x', false],
])('%s lets in someone of that group, domain or address: %s', (rules, expected) => {
  allow(rules)
  expect(isAllowed(ADA)).toBe(expected)
})

it('an e-mail counts only where the provider has verified it', () => {
  allow('email_domain=example.com; email=ada@example.com')
  for (const email_verified of [false, 'true', 1, undefined])
    expect(isAllowed({ ...ADA, email_verified })).toBe(false)
  expect(isAllowed({ ...ADA, email: 'ada@example.com@elsewhere.example' })).toBe(false)
  expect(verifiedEmail(ADA)).toBe('ada@example.com')
})

it('only texts are compared: a claim of another shape lets nobody in', () => {
  allow('groups=1,true,[object Object]')
  expect(isAllowed({ groups: [1, true, {}, null] })).toBe(false)
})

it.each(['hd', 'hd=', '=example.com', 'hd example.com', 'hd= ,'])(
  'a rule that says nothing, such as "%s", is an error and lets nobody in',
  rules => {
    allow(rules)
    expect(() => isAllowed(ADA)).toThrow('ESPALIER_OIDC_ALLOW')
  },
)

it('someone has the name that the provider knows, and always one', () => {
  expect(nameOf({ name: ' Ada ', email: 'a@b.c' })).toBe('Ada')
  expect(nameOf({ name: '', email: 'a@b.c' })).toBe('a@b.c')
  expect(nameOf({})).toBe('Someone')
  expect(nameOf({ name: 'x'.repeat(500) })).toHaveLength(100)
  expect(nameOf({ name: `${'x'.repeat(99)}😀` })).toBe('x'.repeat(99))
  expect(nameOf({ name: 'a\ud83d' })).toBe('a\ufffd')
  expect(nameOf({ name: 'two\nlines' })).toBe('two lines')
  expect(nameOf({ name: '\u200b', email: 'a@b.c' })).toBe('a@b.c')
})
