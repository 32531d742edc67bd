import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { argumentsText, stateOf } from '../../../lib/llm/arguments.ts'

const whole = { finishReason: 'tool-calls', streamed: true } as const
const cut = { finishReason: 'length', streamed: true } as const

const anyObject = fc.dictionary(fc.string(), fc.jsonValue()).map(value => JSON.stringify(value))

/** Without brackets, quotes and escapes in its strings, a text's structure shows in its marks. */
const word = fc.stringMatching(/^[a-z .]{0,12}$/)
const plainValue = fc.oneof(word, fc.integer(), fc.boolean(), fc.array(word, { maxLength: 3 }))
const plainObject = fc
  .dictionary(word, fc.oneof(plainValue, fc.dictionary(word, plainValue, { maxKeys: 3 })))
  .map(value => JSON.stringify(value))

/** A text, and one of the places in it. */
const withPlace = (texts: fc.Arbitrary<string>) =>
  texts.chain(text => fc.tuple(fc.constant(text), fc.nat({ max: text.length - 1 })))

describe('a call whose text is a JSON object', () => {
  it('is complete, however the answer ended, but for a doubtful {}', () => {
    fc.assert(
      fc.property(anyObject, text => {
        expect(stateOf(text, whole)).toBe('complete')
        expect(stateOf(text, cut)).toBe(text === '{}' ? 'cut-off' : 'complete')
      }),
    )
  })

  it('is complete with room around it', () => {
    expect(stateOf(' {"a": [1, {}]}\n', whole)).toBe('complete')
  })

  it.each([
    ['length', true, 'cut-off'],
    ['length', false, 'cut-off'],
    ['interrupted', true, 'cut-off'],
    ['error', true, 'cut-off'],
    // Some servers end every answer with a reason that nobody knows.
    ['other', true, 'complete'],
    ['other', false, 'cut-off'],
    ['tool-calls', false, 'complete'],
    ['stop', true, 'complete'],
  ] as const)('is, as {} under %s, streamed: %s, %s', (finishReason, streamed, state) => {
    expect(stateOf('{}', { finishReason, streamed })).toBe(state)
  })
})

describe('a call whose text stops early', () => {
  it('is cut off at every place', () => {
    fc.assert(
      fc.property(withPlace(anyObject), ([text, place]) => {
        expect(stateOf(text.slice(0, place), cut)).toBe('cut-off')
      }),
    )
  })

  it('is cut off though a router says that the answer ended in order', () => {
    fc.assert(
      fc.property(withPlace(plainObject), ([text, place]) => {
        expect(stateOf(text.slice(0, place), whole)).toBe('cut-off')
      }),
    )
  })

  it('is cut off where it also was broken before', () => {
    expect(stateOf('{"code": "a\nb", "more": [1, ', cut)).toBe('cut-off')
  })
})

describe('a call whose text has an end and is no JSON object', () => {
  it('is malformed where a comma or a quote is missing', () => {
    const broken = withPlace(plainObject).filter(([text, place]) => /[",]/.test(text.charAt(place)))
    fc.assert(
      fc.property(broken, ([text, place]) => {
        const without = text.slice(0, place) + text.slice(place + 1)
        // A comma inside of a string is no comma of the structure; the words above have none.
        expect(stateOf(without, whole)).toBe('malformed')
      }),
    )
  })

  it.each([
    ['a list', '[{"city":"Paris"}]'],
    ['a bracket that closes another kind', '{"cities":["Paris"}'],
    ['something after its end', '{"city":"Paris"}}'],
    ['two objects', '{"city":"Paris"}{"city":'],
    ['prose', 'the city of Paris'],
    ['a string', '"{}"'],
    ['a trailing comma', '{"city":"Paris",}'],
  ])('is malformed as %s', (_, text) => {
    expect(stateOf(text, whole)).toBe('malformed')
  })
})

describe('a call that came without any text', () => {
  it.each(['stop', 'tool-calls'] as const)(
    'has no arguments where the answer ended in %s',
    reason => {
      const text = argumentsText('', reason)
      expect(text).toBe('{}')
      expect(stateOf(text, { finishReason: reason, streamed: false })).toBe('complete')
    },
  )

  it.each(['length', 'error', 'other'] as const)('is cut off where it ended in %s', reason => {
    expect(stateOf(argumentsText('', reason), { finishReason: reason, streamed: false })).toBe(
      'cut-off',
    )
  })
})
