import { isDeepStrictEqual } from 'node:util'

/** Says that one thing is not the other, where it isn't. */
export const differs = (what: string, actual: unknown, expected: unknown): string[] =>
  isDeepStrictEqual(actual, expected)
    ? []
    : [`${what} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`]

/** Says what of two lists one has alone, and what either has twice. */
export const compareLists = (what: string, actual: string[], expected: string[]): string[] => [
  ...expected.filter(each => !actual.includes(each)).map(each => `${what} "${each}" is missing`),
  ...actual
    .filter(each => !expected.includes(each))
    .map(each => `${what} "${each}" is not asked for`),
  ...actual
    .filter((each, index) => actual.indexOf(each) !== index)
    .map(each => `${what} "${each}" is there twice`),
]
