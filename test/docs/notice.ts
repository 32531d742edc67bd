import { createHmac, timingSafeEqual } from 'node:crypto'

const TOLERANCE_SECONDS = 5 * 60

/** Whether a request is a notice that was signed with this secret, just now. The body is as it came. */
export const isNotice = (
  body: string,
  headers: Record<string, string | undefined>,
  secret: string,
): boolean => {
  const id = headers['webhook-id'] ?? ''
  const timestamp = headers['webhook-timestamp'] ?? ''
  const age = Math.abs(Date.now() / 1_000 - Number(timestamp))
  if (!(age <= TOLERANCE_SECONDS)) return false
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  return (headers['webhook-signature'] ?? '').split(' ').some(signature => {
    const [version, text = ''] = signature.split(',')
    const given = Buffer.from(text, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
