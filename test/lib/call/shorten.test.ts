import { expect, test } from 'vitest'
import { keptName } from '../../../lib/call/kept-result.ts'
import { noteOf } from '../../../lib/call/shorten.ts'
import { newId } from '../../../lib/core/ids.ts'
import { MIN_RESULT_CHARS } from '../../../lib/tool/options.ts'
import { MAX_RESULT_SIZE } from '../../../lib/tool/serialize.ts'

const fullOutput = keptName(newId('call'), 'f'.repeat(64))
const noteFor = (text: string, maxChars: number) => noteOf(text, { maxChars, fullOutput })

test.each([
  ['letters', 'x'],
  ['signs that are longer in JSON', '\u0000'],
  ['signs of two halves', '😀'],
])('what stands in the place of %s is no longer than a result may be', (_, sign) => {
  const text = sign.repeat(MAX_RESULT_SIZE / 2)
  for (const maxChars of [MIN_RESULT_CHARS, 1_500, 5_000, 100_000]) {
    const note = noteFor(text, maxChars)
    expect(note.length).toBeLessThanOrEqual(maxChars)
    const { preview, ...facts } = JSON.parse(note)
    expect(text.startsWith(preview)).toBe(true)
    expect(preview).not.toBe('')
    expect(facts).toMatchObject({ cap_chars: maxChars, full_output: fullOutput })
  }
})
