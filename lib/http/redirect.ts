import type { Context } from 'hono'
import type { Raw } from './endpoint.ts'

/** The answer of what leads to an address that works for a minute. */
export const redirection = {
  description: 'Where the bytes are.',
  headers: { location: 'An address of the bucket.' },
} satisfies Raw

/** Nobody keeps the address, and nobody is told where it came from. */
export const redirectTo = (context: Context, url: string): Response => {
  context.header('cache-control', 'no-store')
  context.header('referrer-policy', 'no-referrer')
  return context.redirect(url, 302)
}
