import { AppError, ERROR_STATUS } from '../core/errors.ts'
import { log } from '../core/log.ts'

/**
 * What a Lambda may answer with, in bytes of JSON, in which the body is a text:
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
export const MAX_LAMBDA_ANSWER_BYTES = 6 * 1024 * 1024
/** What one UTF-16 unit of a body may take of that: one without its other half becomes `\udc00`. */
const MAX_BYTES_PER_UNIT = 6

type Answer = { statusCode: number; body: string; headers?: Record<string, string | string[]> }

/**
 * Puts an error that says what to do in the place of an answer that Lambda would not pass on: past
 * its limit whoever asked would hear of a fault of the gateway's, and nothing else.
 */
export const fitting = <Result extends Answer>(answer: Result): Result | Answer => {
  // Nearly all answers are far too short to be measured.
  if (answer.body.length * MAX_BYTES_PER_UNIT < MAX_LAMBDA_ANSWER_BYTES / 2) return answer
  const bytes = Buffer.byteLength(JSON.stringify(answer))
  if (bytes <= MAX_LAMBDA_ANSWER_BYTES) return answer
  const { code, message } = tooLarge(bytes)
  log('warn', 'answer-too-large', { bytes, status: answer.statusCode })
  return {
    statusCode: ERROR_STATUS[code],
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { code, message } }),
  }
}

const tooLarge = (bytes: number): AppError =>
  new AppError(
    'ANSWER_TOO_LARGE',
    `What was asked is done, but the answer has ${bytes} bytes, and at most ${MAX_LAMBDA_ANSWER_BYTES} can be sent. Ask for less at once: of a list, a smaller "limit".`,
  )
