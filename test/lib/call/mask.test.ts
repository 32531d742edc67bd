import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MIN_SECRET_CHARS, maskSecrets } from '../../../lib/call/mask.ts'

/** Secrets as people have them: long enough to be one, of any characters. */
const secrets = fc
  .string({ minLength: 8, maxLength: 40, unit: 'binary' })
  .filter(text => text.isWellFormed() && text.trim().length >= 8)
const around = fc.string({ unit: 'grapheme-ascii', maxLength: 30 })

/** Whether a part of the secret long enough to be of use is still in a text. */
const leaks = (text: string, secret: string) => text.includes(secret)

describe('a secret that a call received', () => {
  it('is masked as it is, in texts, lists, objects and their keys', () => {
    fc.assert(
      fc.property(secrets, around, around, (secret, before, after) => {
        const text = before + secret + after
        const masked = maskSecrets({ a: text, b: [text, { [text]: 1 }] }, [secret])
        for (const value of [masked.a, masked.b[0], Object.keys(masked.b[1] ?? {})[0]])
          expect(leaks(String(value), secret)).toBe(false)
      }),
    )
  })

  it.each<[string, (secret: string) => string]>([
    ['as part of a URL', secret => encodeURIComponent(secret)],
    ['as part of a URL, in small letters', secret => smallLetters(encodeURIComponent(secret))],
    ['as part of a URL by RFC 3986', secret => strictly(encodeURIComponent(secret))],
    ['as a form sends it', secret => new URLSearchParams({ a: secret }).toString().slice(2)],
    ['within JSON', secret => JSON.stringify(secret).slice(1, -1)],
  ])('is masked %s', (_, encode) => {
    fc.assert(
      fc.property(secrets, around, around, (secret, before, after) => {
        const text = `${before}${encode(secret)}${after}`
        expect(maskSecrets(text, [secret])).not.toContain(encode(secret))
      }),
    )
  })

  it.each(['base64', 'base64url'] as const)('is masked within %s, wherever it begins', encoding => {
    fc.assert(
      fc.property(secrets, around, around, (secret, before, after) => {
        const text = Buffer.from(before + secret + after).toString(encoding)
        const masked = maskSecrets(text, [secret])
        expect(masked).toContain('***')
        // Decoded again, piece by piece, nothing of use is left: the ends of its neighbours at most.
        for (const piece of masked.split('***'))
          for (const offset of [0, 1, 2, 3])
            expect(Buffer.from(piece.slice(offset), encoding).toString()).not.toContain(secret)
      }),
    )
  })

  it('leaves all else as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(maskSecrets(value, ['\u0001 never in there \u0001'])).toEqual(value)
      }),
    )
  })

  it(`is masked from ${MIN_SECRET_CHARS} characters on`, () => {
    expect(maskSecrets('abcd', ['abcd'])).toBe('***')
    expect(maskSecrets('abc', ['abc'])).toBe('abc')
  })
})

const strictly = (text: string) =>
  text.replace(/[!'()*]/g, character => `%${Buffer.from(character).toString('hex').toUpperCase()}`)

const smallLetters = (text: string) => text.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase())
