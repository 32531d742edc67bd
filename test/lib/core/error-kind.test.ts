import { describe, expect, it } from 'vitest'
import { errorKind } from '../../../lib/core/error-kind.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { errorFields } from '../../../lib/core/log.ts'

const CANARY = 'canary-4711'
const LIKE_A_FRAME = `upstream:\n    at call (https://x/?key=${CANARY})\n    at /srv/${CANARY}.js:1:2`

const named = (name: string) => Object.assign(new Error('x'), { name })

describe('the kind of an error', () => {
  it('is its class and where it was made', () => {
    expect(errorKind(new TypeError(CANARY))).toEqual({
      error: 'TypeError',
      stack: expect.stringMatching(/^ {4}at .*error-kind\.test\.ts:\d+:\d+\)?\n/),
    })
    expect(errorKind(new Error(''))).toMatchObject({ stack: expect.stringContaining('    at ') })
  })

  it.each<[string, () => unknown]>([
    ['a message with lines like frames', () => new Error(LIKE_A_FRAME)],
    ['a name', () => named(CANARY)],
    ['a name with lines like frames', () => named(LIKE_A_FRAME)],
    ['a code', () => Object.assign(new Error('x'), { code: CANARY })],
    ['a stack of its own', () => Object.assign(new Error('x'), { stack: LIKE_A_FRAME })],
    ['a message that changed', () => Object.assign(new Error(LIKE_A_FRAME), { message: 'x' })],
    ['a cause', () => new Error('x', { cause: new Error(LIKE_A_FRAME) })],
    ['a text', () => CANARY],
    ['an error of ours, which a tool may have thrown', () => new AppError('BAD_REQUEST', CANARY)],
  ])('has no word of %s', (_, make) => {
    expect(JSON.stringify(errorKind(make()))).not.toContain(CANARY)
  })

  it('has the codes of Node and of AWS', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    expect(errorKind(refused)).toMatchObject({ error: 'Error', code: 'ECONNREFUSED' })
    const throttled = { name: 'ThrottlingException', $fault: 'client', $metadata: {} }
    expect(errorKind(Object.assign(new Error('x'), throttled))).toMatchObject({
      error: 'ThrottlingException',
    })
  })

  it('ends where causes go round in a circle', () => {
    const error = new Error('x')
    error.cause = error
    expect(JSON.stringify(errorKind(error)).length).toBeLessThan(100_000)
  })
})

describe('an error in the log', () => {
  it('has its text where it is ours, and of its cause the kind', () => {
    const cause = new TypeError(CANARY)
    expect(errorFields(new AppError('NOT_CONFIGURED', 'Set it.', { cause }))).toMatchObject({
      error: 'AppError: Set it.',
      code: 'NOT_CONFIGURED',
      cause: { error: 'TypeError' },
    })
  })

  it('has nothing that any other says', () => {
    expect(JSON.stringify(errorFields(new Error(CANARY)))).not.toContain(CANARY)
  })
})
