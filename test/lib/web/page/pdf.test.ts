import { deflateSync } from 'node:zlib'
import { describe, expect, it, test } from 'vitest'
import { MAX_PDF_PAGES, MAX_UNPACKED_BYTES, pdfToText } from '../../../../lib/web/page/pdf.ts'
import { failure } from '../failure.ts'
import { pdfOf } from './pdf-file.ts'

const { signal } = new AbortController()

describe('a PDF', () => {
  it('is read page by page, with its title', async () => {
    const bytes = pdfOf(['Pears ripen late', 'Prune in summer'], { title: 'On pears' })
    expect(await pdfToText(bytes, signal)).toEqual({
      title: 'On pears',
      text: '[Page 1 of 2]\n\nPears ripen late\n\n[Page 2 of 2]\n\nPrune in summer',
    })
  })

  it('without text says that there is none', async () => {
    expect((await pdfToText(pdfOf(['']), signal)).note).toContain('holds no text')
  })

  it('with more pages than are read says how many were', async () => {
    const pages = Array.from({ length: MAX_PDF_PAGES + 1 }, (_, index) => `line ${index}`)
    const { text, note } = await pdfToText(pdfOf(pages), signal)
    expect(text.match(/\[Page /g)).toHaveLength(MAX_PDF_PAGES)
    expect(note).toBe(
      `Only the first ${MAX_PDF_PAGES} of its ${MAX_PDF_PAGES + 1} pages were read.`,
    )
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['no PDF', Buffer.from('%PDF-1.4\nhello')],
    ['half of one', pdfOf(['Pears']).subarray(0, 300)],
  ])('that is %s is damaged', async (_, bytes) => {
    expect((await failure(pdfToText(bytes, signal))).message).toMatch(/damaged/)
  })

  test.each([1, 2])('that unpacks to far more, packed %d times, is not read', async times => {
    let stream = Buffer.alloc(MAX_UNPACKED_BYTES + 1, ' ')
    for (let time = 0; time < times; time++) stream = deflateSync(stream)
    expect(stream.length).toBeLessThan(200_000)
    const error = await failure(pdfToText(pdfOf(['x'], { stream }), signal))
    expect(error.message).toContain(`more than ${MAX_UNPACKED_BYTES} bytes`)
  })

  it('of many streams is measured as a whole', async () => {
    const part = deflateSync(Buffer.alloc(MAX_UNPACKED_BYTES / 8, ' '))
    const streams = Array.from({ length: 9 }, () =>
      Buffer.concat([Buffer.from('\nstream\n'), part, Buffer.from('\nendstream')]),
    )
    const bytes = Buffer.concat([pdfOf(['x']), ...streams])
    expect((await failure(pdfToText(bytes, signal))).message).toContain('unpacks to more than')
  })

  it('is left when the signal aborts', async () => {
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(pdfToText(pdfOf(['x']), aborted)).rejects.toThrow('enough')
  })
})
