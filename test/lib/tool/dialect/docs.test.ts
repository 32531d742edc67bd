import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { DIALECTS } from '../../../../lib/tool/dialect/adapt.ts'
import { fateOf, KEYWORDS } from './keywords.ts'

const PAGE = path.join(import.meta.dirname, '../../../../docs/dialects.md')

const cells = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim().replaceAll('`', ''))

test('the table of keywords says what the dialects do', () => {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter(line => line.startsWith('|'))
    .map(cells)
  const start = rows.findIndex(([first]) => first === 'keyword')
  expect(rows[start]).toEqual(['keyword', ...DIALECTS])
  const expected = KEYWORDS.map(([keyword, argument]) => [
    keyword,
    ...DIALECTS.map(dialect => fateOf(dialect, argument)),
  ])
  expect(rows.slice(start + 2, start + 2 + KEYWORDS.length)).toEqual(expected)
})
