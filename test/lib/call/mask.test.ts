import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maskResult, maskSecrets } from '../../../lib/call/mask.ts'
import { MIN_SECRET_CHARS } from '../../../lib/tool/setting.ts'

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
    ['as a whole URL', secret => encodeURI(secret)],
    ['within JSON', secret => inJson(secret)],
    ['within JSON within JSON', secret => inJson(inJson(secret))],
    ['within JSON within JSON within JSON', secret => inJson(inJson(inJson(secret)))],
    ['within JSON of plain ASCII', secret => inAscii(inJson(secret))],
    ['within JSON of plain ASCII, in JSON', secret => inJson(inAscii(inJson(secret)))],
    ['within JSON for HTML', secret => escaped(inJson(secret), /[<>&]/g)],
    ['within JSON as PHP has it', secret => inAscii(inJson(secret)).replaceAll('/', '\\/')],
    ['without the space around it', secret => secret.trim()],
  ])('is masked %s', (_, encode) => {
    fc.assert(
      fc.property(secrets, around, around, (secret, before, after) => {
        const text = `${before}${encode(secret)}${after}`
        const masked = maskSecrets(text, [secret])
        expect(masked).not.toContain(encode(secret))
        // Within an object as by itself.
        expect(maskSecrets({ a: [text, 1] }, [secret])).toEqual({ a: [masked, 1] })
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

  it('is masked where it is a number', () => {
    expect(maskSecrets({ a: 12345678, b: [1234] }, ['12345678'])).toEqual({ a: '***', b: [1234] })
  })

  it('with a line’s end is masked where the tool trimmed it', () => {
    expect(maskSecrets('key=tok-123456', ['tok-123456\n'])).toBe('key=***')
  })

  it('changes nothing of a result but what it says, though it be the name of a field', () => {
    const said = { content: 'the content', data: { media: 'x' } }
    const media = ['media_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const]
    expect(maskResult({ ...said, media }, ['content', 'media'])).toEqual({
      content: 'the ***',
      data: { '***': 'x' },
      media,
    })
  })

  it('leaves all else as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(maskSecrets(value, ['\u0001 never in there \u0001'])).toEqual(value)
      }),
    )
  })

  it('is looked for in a million texts, and soon', () => {
    const texts = Array<string>(900_000).fill('text')
    const many = Array.from({ length: 8 }, (_, index) => `Sécret/"${index}" of one tool`)
    expect(maskSecrets({ texts }, many)).toEqual({ texts })
  })

  it(`is masked from ${MIN_SECRET_CHARS} characters on`, () => {
    expect(maskSecrets('abcd', ['abcd'])).toBe('***')
    expect(maskSecrets('abc', ['abc'])).toBe('abc')
  })
})

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

const escaped = (text: string, what: RegExp) =>
  text.replace(what, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const inAscii = (text: string) => escaped(text, /[^\0-\x7f]/g)

const strictly = (text: string) =>
  text.replace(/[!'()*]/g, character => `%${Buffer.from(character).toString('hex').toUpperCase()}`)

const smallLetters = (text: string) => text.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase())
