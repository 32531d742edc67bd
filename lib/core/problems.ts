import type * as z from 'zod'
import { clip } from './clip.ts'
import { AppError } from './errors.ts'

/** What is wrong with one field of what came in, as whoever sent it can mend it. */
export type Problem = { field: string; message: string }

/**
 * What an error lists at most, and how much of each, in characters. The fields' names are as many
 * and as long as whoever sent them likes, and an answer has 6 MB.
 */
export const MAX_PROBLEMS = 20
export const MAX_FIELD_CHARS = 200
export const MAX_PROBLEM_CHARS = 2_000

/** VALIDATION_ERROR that names the problems, all at once unless there are too many to read. */
export const invalid = (what: string, problems: Problem[]): AppError => {
  const listed = problems.slice(0, MAX_PROBLEMS).map(({ field, message }) => ({
    field: clip(field, MAX_FIELD_CHARS),
    message: clip(message, MAX_PROBLEM_CHARS),
  }))
  const more = problems.length - listed.length
  const sentences = listed.map(({ field, message }) => `"${field}": ${message}`)
  return new AppError(
    'VALIDATION_ERROR',
    [what, ...sentences, ...(more > 0 ? [`And ${more} more.`] : [])].join(' '),
    { details: listed },
  )
}

/** Zod's issues as problems; a field that nobody declared is one of its own. */
export const problemsOf = (
  issues: readonly z.core.$ZodIssue[],
  {
    root,
    undeclared = () => 'is not declared here.',
  }: { root: string; undeclared?: (path: PropertyKey[], key: string) => string },
): Problem[] =>
  issues.flatMap(issue =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map(key => ({
          field: [...issue.path, key].join('.'),
          message: undeclared(issue.path, key),
        }))
      : { field: issue.path.join('.') || root, message: sentence(wordsOf(issue)) },
  )

const sentence = (text: string): string => text.replace(/\.?$/, '.')

/** What zod says of an issue, and of a union what it says of each of its forms. */
const wordsOf = (issue: z.core.$ZodIssue): string => {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined'))
    return `Missing: expected ${issue.expected}`
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue.message
  const forms = issue.errors.flatMap(([first]) => {
    if (!first) return []
    const where = first.path.length > 0 ? `"${first.path.join('.')}": ` : ''
    return where + wordsOf(first)
  })
  return `It has none of its possible forms (${[...new Set(forms)].join('; or ')})`
}
