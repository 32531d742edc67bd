import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  invalid,
  MAX_FIELD_CHARS,
  MAX_PROBLEM_CHARS,
  MAX_PROBLEMS,
  problemsOf,
} from '../../../lib/core/problems.ts'

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ field: `f${index}`, message: 'is wrong.' }))

test('problems are listed in the text and in the details', () => {
  const error = invalid('Nothing was saved.', many(2))
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: many(2) })
  expect(error.message).toBe('Nothing was saved. "f0": is wrong. "f1": is wrong.')
})

test(`${MAX_PROBLEMS} problems are listed, and of more how many there are`, () => {
  const most = invalid('Not valid.', many(MAX_PROBLEMS))
  expect(most.details).toHaveLength(MAX_PROBLEMS)
  expect(most.message).not.toContain('more')
  const more = invalid('Not valid.', many(MAX_PROBLEMS + 3))
  expect(more.details).toHaveLength(MAX_PROBLEMS)
  expect(more.message).toMatch(/And 3 more\.$/)
})

test('names and messages of any length are shown as far as they are of use', () => {
  const field = 'f'.repeat(MAX_FIELD_CHARS)
  const message = 'm'.repeat(MAX_PROBLEM_CHARS)
  expect(invalid('', [{ field, message }]).details).toEqual([{ field, message }])
  expect(invalid('', [{ field: `${field}f`, message: `${message}m` }]).details).toEqual([
    { field: `${field.slice(1)}…`, message: `${message.slice(1)}…` },
  ])
})

test('each field that nobody declared is a problem of its own', () => {
  const schema = z.strictObject({ a: z.int(), b: z.strictObject({}) })
  const issues = (value: unknown) => schema.safeParse(value).error?.issues ?? []
  const problems = problemsOf(issues({ a: 'x', b: { c: 1, d: 1 }, e: 1 }), { root: 'body' })
  expect(problems.map(({ field }) => field)).toEqual(['a', 'b.c', 'b.d', 'e'])
  expect(problemsOf(issues(1), { root: 'body' })).toMatchObject([{ field: 'body' }])
})
