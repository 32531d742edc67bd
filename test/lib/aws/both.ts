import { expect } from 'vitest'
import { canonicalPath, canonicalQuery, problemsOf, queryOf } from './signature.ts'
import { REGION, type Recorded, SECRET, type Wire } from './wire.ts'

/** Names of services in signatures. */
export type ServiceName = 'dynamodb' | 'states' | 'lambda' | 'ses' | 's3'

/**
 * Headers that are no service's business: who asks, how often it has, and when. The SDK also has S3
 * tell a checksum, to compare the body with once more that TLS and its length already vouch for.
 */
const OF_THE_CLIENT =
  /^(?:user-agent|x-amz-user-agent|amz-sdk-.*|connection|authorization|x-amz-date|x-amz-checksum-mode|accept|expect)$/

/** Has a request sent by ours and by the SDK, and holds both to be the same to AWS. */
export const sameRequest = async (
  { requests }: Wire,
  service: ServiceName,
  { ours, theirs }: { ours: () => Promise<unknown>; theirs: () => Promise<unknown> },
): Promise<Recorded> => {
  const recorded = async (send: () => Promise<unknown>): Promise<Recorded> => {
    const before = requests.length
    await send()
    expect(requests).toHaveLength(before + 1)
    const request = requests.at(-1)
    if (!request) throw new Error('Nothing came.')
    return request
  }
  const [own, other] = [await recorded(ours), await recorded(theirs)]
  expect(asAwsReads(own, service)).toEqual(asAwsReads(other, service))
  const keys = { service, region: REGION, secret: SECRET }
  expect(problemsOf(other, keys)).toEqual([])
  expect(problemsOf(own, keys)).toEqual([])
  return own
}

/** What of a request a service looks at. */
export const asAwsReads = (request: Recorded, service: ServiceName) => {
  const { method, target, headers, body } = request
  // The SDK names an S3 command in the query, which S3 only writes down.
  const query = queryOf(request).filter(([name]) => name !== 'x-id')
  return {
    method,
    path: decodeURIComponent(target.split('?')[0] ?? ''),
    signedPath: canonicalPath(target, service),
    query: canonicalQuery(query),
    headers: Object.fromEntries(
      Object.entries(headers).filter(
        // No body and a body of no length are the same.
        ([name, value]) =>
          !OF_THE_CLIENT.test(name) &&
          !(name === 'content-length' && value === '0') &&
          !(isStructured(headers) && OF_THE_BYTES.test(name)),
      ),
    ),
    body: meaningOf(body, headers),
  }
}

/** JSON is the same in any order, XML with other escapes of the same characters. */
const meaningOf = (body: Buffer, headers: Recorded['headers']): unknown => {
  const text = body.toString()
  const [, format] = STRUCTURED.exec(headers['content-type'] ?? '') ?? []
  if (format === 'json' || format === 'x-amz-json-1.0') return JSON.parse(text)
  if (format !== 'xml') return body.toString('base64')
  return (
    text
      .replace(/^<\?xml[^>]*\?>/, '')
      // Whoever reads XML takes every end of a line for the same, unless it is escaped.
      .replace(/\r\n?/g, '\n')
      .split(/(<[^>]*>)/)
      .map(part => (part.startsWith('<') ? part : unescaped(part)))
  )
}

const STRUCTURED = /^application\/(json|x-amz-json-1\.0|xml)$/
const isStructured = (headers: Recorded['headers']) =>
  STRUCTURED.test(headers['content-type'] ?? '')
/** What says how these bytes are, and no others: held to the body itself, as its signature is. */
const OF_THE_BYTES = /^(?:content-length|x-amz-content-sha256|x-amz-checksum-sha256)$/

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const unescaped = (text: string): string =>
  text.replace(/&(#x?)?(\w+);/g, (_, kind: string | undefined, code: string) =>
    kind
      ? String.fromCodePoint(Number.parseInt(code, kind === '#x' ? 16 : 10))
      : (NAMED[code] ?? ''),
  )
