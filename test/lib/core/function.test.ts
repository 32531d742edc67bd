import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { runFunction } from '../../../lib/core/function.ts'
import { type LogEntry, type LogSink, log, setLogSink } from '../../../lib/core/log.ts'

const CANARY = 'canary-4711'

let entries: LogEntry[]
let previous: LogSink
beforeEach(() => {
  entries = []
  previous = setLogSink(entry => entries.push(entry))
})
afterEach(() => setLogSink(previous))

const failureOf = (error: unknown) =>
  runFunction({ taskId: 't' }, async () => {
    throw error
  }).then(
    () => undefined,
    thrown => thrown,
  )

test('a function gives what its work gives, and its log lines have the ids', async () => {
  const work = async () => {
    log('info', 'work-done')
    return 1
  }
  expect(await runFunction({ taskId: 't' }, work)).toBe(1)
  expect(entries).toMatchObject([
    { event: 'work-done', taskId: 't' },
    { event: 'function-run', taskId: 't', milliseconds: expect.any(Number) },
  ])
})

test('a failure that is not ours leaves a function without a word of what it says', async () => {
  const error = await failureOf(new TypeError(CANARY, { cause: new Error(CANARY) }))
  expect(error.code).toBe('INTERNAL')
  expect(error.cause).toBeUndefined()
  expect(JSON.stringify([entries, error.message, error.stack])).not.toContain(CANARY)
  expect(entries).toMatchObject([{ event: 'function-failed', error: 'TypeError', taskId: 't' }])
})

test('an error of ours leaves with its text and without its cause', async () => {
  const cause = new Error(CANARY)
  const error = await failureOf(new AppError('NOT_CONFIGURED', 'Set it.', { cause }))
  expect(error).toMatchObject({ code: 'NOT_CONFIGURED', message: 'Set it.' })
  expect(error.cause).toBeUndefined()
})
