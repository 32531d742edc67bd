import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adapt, DIALECTS, type JsonSchema } from '../../../../lib/tool/dialect/adapt.ts'
import { strayWords } from './documented.ts'
import { argumentsOf, spoiled, validatorOf } from './values.ts'

const FOLDER = path.join(import.meta.dirname, '../../../fixtures/json-schemas')

/** As its authors wrote it, without the names of older drafts that the validator has no copy of. */
const read = (file: string): JsonSchema => {
  const {
    $schema: _,
    id: __,
    ...schema
  } = JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8'))
  return schema
}
const corpus = readdirSync(FOLDER)
  .filter(file => file.endsWith('.json'))
  .map(file => ({ file, schema: read(file) }))

test('the corpus has what it should have', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(20)
})

describe.each(DIALECTS)('real schemas, at %s', dialect => {
  test.each(corpus)('$file has only documented words, and nothing is left to do', ({ schema }) => {
    const { schema: written, strict } = adapt(dialect, schema)
    expect(strayWords(dialect, written)).toEqual([])
    const again = adapt(dialect, written)
    expect(JSON.stringify(again.schema)).toBe(JSON.stringify(written))
    expect(again.strict).toBe(strict)
  })

  test.each(corpus)('$file takes its arguments there and back, and no wrong ones', ({ schema }) => {
    const { schema: written, toWire, fromWire } = adapt(dialect, schema)
    const isValid = validatorOf(schema)
    const isValidThere = validatorOf(written)
    let valid = 0
    const cases = argumentsOf(schema).chain(values =>
      fc.tuple(fc.constant(values), spoiled(values)),
    )
    fc.assert(
      fc.property(cases, ([values, wrong]) => {
        if (!isValid(wrong) && isValid(fromWire(wrong)))
          expect(JSON.stringify(wrong)).toContain('null')
        if (!isValid(values)) return
        valid++
        expect(fromWire(toWire(values))).toEqual(values)
        expect(isValidThere(toWire(values))).toBe(true)
      }),
      { numRuns: 120, seed: 3 },
    )
    expect(valid).toBeGreaterThan(0)
  })
})

test('arguments of a real tool are told what its schema can not say', () => {
  const { schema } = adapt('google', read('fetch-fetch.json'))
  expect(schema).toEqual({
    type: 'object',
    description: 'Parameters for fetching a URL.',
    properties: {
      url: { type: 'string', description: 'URL to fetch. Format: uri. At least 1 character.' },
      max_length: {
        type: 'integer',
        description: 'Maximum number of characters to return. Default: 5000.',
        minimum: 1,
        maximum: 999999,
      },
      start_index: {
        type: 'integer',
        description:
          'On return output starting at this character index, useful if a previous fetch was truncated and more context is required. Default: 0.',
        minimum: 0,
      },
      raw: {
        type: 'boolean',
        description:
          'Get the actual HTML content of the requested page, without simplification. Default: false.',
      },
    },
    required: ['url'],
  })
})

test('alternatives of real arguments become one object, and a note that tells them apart', () => {
  const { schema, notes } = adapt('anthropic', read('notion-move-page-parent.json'))
  expect(schema).toEqual({
    type: 'object',
    properties: {
      type: { enum: ['page_id', 'database_id', 'workspace'] },
      page_id: { type: 'string', format: 'uuid' },
      database_id: { type: 'string', format: 'uuid' },
    },
    required: ['type'],
  })
  expect(notes).toEqual([
    'Exactly one alternative must match.',
    'Give the arguments of one of these: (1) type "page_id"; requires page_id ' +
      '(2) type "database_id"; requires database_id (3) type "workspace"',
  ])
})
