import { expect, test } from 'vitest'
import { cleanFileName, stemOf } from '../../../lib/media/file-name.ts'
import { MAX_FILENAME_CHARS } from '../../../lib/media/limits.ts'

test.each([
  ['../../etc/passwd', 'passwd'],
  ['C:\\temp\\a.png', 'a.png'],
  ['a\r\nX: y\u0000\u0085.md', 'aX: y.md'],
  ['invoice\u202egpj.exe', 'invoicegpj.exe'],
  ['half \ud83d.md', 'half \ufffd.md'],
  ['👨‍👩‍👧 می‌خواهم.txt', '👨‍👩‍👧 می‌خواهم.txt'],
  ['folder/', ''],
  [' \u2067 ', ''],
])('%j is cleaned to %j', (name, clean) => {
  expect(cleanFileName(name)).toBe(clean)
})

test('a long name keeps its extension', () => {
  const fits = `${'x'.repeat(MAX_FILENAME_CHARS - 4)}.png`
  expect(cleanFileName(fits)).toBe(fits)
  expect(cleanFileName(`x${fits}`)).toBe(fits)
  expect(cleanFileName('x'.repeat(400_000))).toHaveLength(MAX_FILENAME_CHARS)
})

test('a stem is a name without its extension', () => {
  expect(stemOf('a.b.md')).toBe('a.b')
  expect(stemOf('.md')).toBe('')
})
