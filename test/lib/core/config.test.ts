import { afterEach, expect, test, vi } from 'vitest'
import { config, publicUrl } from '../../../lib/core/config.ts'

afterEach(() => vi.unstubAllEnvs())

test.each(['https://example.com', 'https://example.com/', 'https://example.com//'])(
  'the address %s has no slash at its end where paths follow',
  url => {
    vi.stubEnv('ESPALIER_PUBLIC_URL', url)
    expect(publicUrl()).toBe('https://example.com')
  },
)

test('what is not set is named', () => {
  vi.stubEnv('ESPALIER_TABLE', '')
  expect(() => config('table')).toThrow(
    expect.objectContaining({
      code: 'NOT_CONFIGURED',
      message: expect.stringContaining('ESPALIER_TABLE'),
    }),
  )
})
