import { beforeAll, describe, expect, it } from 'vitest'
import { setLogSink } from '../../../lib/core/log.ts'
import { fitting, MAX_LAMBDA_ANSWER_BYTES } from '../../../lib/http/answer-size.ts'

beforeAll(() => setLogSink(() => {}))

const answerOf = (body: string) => ({
  statusCode: 200,
  headers: { 'content-type': 'application/json' },
  body,
  isBase64Encoded: false,
})
const bytesOf = (answer: object) => Buffer.byteLength(JSON.stringify(answer))
const empty = bytesOf(answerOf(''))

describe('an answer', () => {
  it('of as many bytes as Lambda sends goes out as it is', () => {
    const answer = answerOf('x'.repeat(MAX_LAMBDA_ANSWER_BYTES - empty))
    expect(bytesOf(answer)).toBe(MAX_LAMBDA_ANSWER_BYTES)
    expect(fitting(answer)).toBe(answer)
  })

  it('of one byte more is an error that says how much it was and what to do', () => {
    const answer = fitting(answerOf('x'.repeat(MAX_LAMBDA_ANSWER_BYTES - empty + 1)))
    expect(answer.statusCode).toBe(500)
    expect(JSON.parse(answer.body)).toEqual({
      error: {
        code: 'ANSWER_TOO_LARGE',
        message: expect.stringMatching(/has 6291457 bytes, and at most 6291456 .* smaller "limit"/),
      },
    })
  })

  it.each([
    ['quotes, which JSON escapes once more', '"', 2],
    ['line ends', '\n', 2],
    ['signs of three bytes', '山', 3],
    ['controls', '\u0001', 6],
    ['halves of signs', '\ud800', 6],
  ])('of %s is measured as it is sent', (_, sign, bytes) => {
    const most = Math.floor((MAX_LAMBDA_ANSWER_BYTES - empty) / bytes)
    const fits = answerOf(sign.repeat(most))
    expect(fitting(fits)).toBe(fits)
    expect(fitting(answerOf(sign.repeat(most + 1))).statusCode).toBe(500)
  })
})
