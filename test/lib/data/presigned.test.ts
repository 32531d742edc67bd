import { expect, test, vi } from 'vitest'
import { presignedUrl } from '../../../lib/data/presigned.ts'

const wayOf = async (mimeType: string): Promise<string | undefined> => {
  vi.stubEnv('ESPALIER_BUCKET', 'bucket')
  vi.stubEnv('AWS_REGION', 'us-east-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  const url = new URL(await presignedUrl('media/a', { filename: 'a', mimeType }))
  return url.searchParams.get('response-content-disposition')?.split(';')[0]
}

test.each([
  ...['text/html', 'text/html; charset=utf-8', 'TEXT/HTML', 'application/xhtml+xml'],
  ...['image/svg+xml', 'image/svg+xml;x=y', 'application/xml', 'text/xml', 'text/xsl'],
  ...['application/rss+xml', 'application/mathml+xml'],
])('a browser only saves %s', async type => {
  expect(await wayOf(type)).toBe('attachment')
})

test.each(['text/plain', 'text/html-like', 'image/png', 'application/pdf', 'application/json'])(
  'a browser shows %s',
  async type => {
    expect(await wayOf(type)).toBe('inline')
  },
)
