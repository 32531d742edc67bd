import { createHash, createHmac } from 'node:crypto'
import type { Recorded } from './wire.ts'

// AWS's Signature Version 4 as its documentation has it ("Create a signed AWS API request"), worked
// out anew of a request as it came, and of nothing that the client's own signer has in it.

type Keys = { service: string; region: string; secret: string }

/** What AWS would find wrong with a signed request: nothing, as a rule. */
export const problemsOf = (request: Recorded, keys: Keys): string[] => {
  const header = request.headers.authorization ?? ''
  const [, , scope = '', names = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      header,
    ) ?? []
  const signed = names.split(';')
  const payloadHash = sha256(request.body)
  const said = request.headers['x-amz-content-sha256']
  const expected = signatureOf(request, keys, {
    scope,
    date: request.headers['x-amz-date'] ?? '',
    signed,
    payloadHash,
    query: queryOf(request),
  })
  const mustBeSigned = Object.keys(request.headers).filter(
    name => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'),
  )
  return [
    ...(header === '' ? ['no signature'] : []),
    ...(said !== undefined && said !== payloadHash ? ['another body'] : []),
    ...(said === undefined && keys.service === 's3' ? ['no hash of the body'] : []),
    ...mustBeSigned.filter(name => !signed.includes(name)).map(name => `${name} is not signed`),
    ...(signature === expected ? [] : ['another signature']),
  ]
}

/** What S3 would find wrong with a URL that has its signature in its query. */
export const problemsOfPresigned = (url: string, keys: Keys): string[] => {
  const { origin, host } = new URL(url)
  const request: Recorded = {
    method: 'GET',
    target: url.slice(origin.length),
    headers: { host },
    body: Buffer.alloc(0),
  }
  const query = queryOf(request)
  const value = (name: string) => query.find(([key]) => key === name)?.[1] ?? ''
  const expected = signatureOf(request, keys, {
    scope: value('X-Amz-Credential').split('/').slice(1).join('/'),
    date: value('X-Amz-Date'),
    signed: value('X-Amz-SignedHeaders').split(';'),
    payloadHash: 'UNSIGNED-PAYLOAD',
    query: query.filter(([name]) => name !== 'X-Amz-Signature'),
  })
  return [
    ...(value('X-Amz-SignedHeaders') === 'host' ? [] : ['a header that nobody will send']),
    ...(value('X-Amz-Signature') === expected ? [] : ['another signature']),
  ]
}

const signatureOf = (
  { method, target, headers }: Recorded,
  { service, region, secret }: Keys,
  parts: {
    scope: string
    date: string
    signed: string[]
    payloadHash: string
    query: [string, string][]
  },
): string => {
  const day = parts.date.slice(0, 8)
  const canonical = [
    method,
    canonicalPath(target, service),
    canonicalQuery(parts.query),
    ...parts.signed.map(name => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    parts.signed.join(';'),
    parts.payloadHash,
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  if (scope !== parts.scope) return `for ${scope}`
  const text = ['AWS4-HMAC-SHA256', parts.date, scope, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  return hmac(key, text).toString('hex')
}

/** The path that is signed: S3's as it is, all others' escaped once more. */
export const canonicalPath = (target: string, service: string): string => {
  const [path = ''] = target.split('?')
  const once = path.split('/').map(segment => escaped(decodeURIComponent(segment)))
  return (service === 's3' ? once : once.map(escaped)).join('/')
}

/** Names and values as they are meant. */
export const queryOf = ({ target }: Recorded): [string, string][] => {
  const start = target.indexOf('?')
  if (start < 0) return []
  return target
    .slice(start + 1)
    .split('&')
    .map(pair => {
      const [name = '', value = ''] = pair.split('=')
      return [decodeURIComponent(name), decodeURIComponent(value)]
    })
}

export const canonicalQuery = (pairs: [string, string][]): string =>
  pairs
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&')

/** All but the unreserved characters, byte by byte. */
const escaped = (text: string): string =>
  [...Buffer.from(text)]
    .map(byte => {
      const character = String.fromCharCode(byte)
      return /[A-Za-z0-9\-._~]/.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()
