import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { getCanonicalQuery, SignatureV4 } from '@smithy/signature-v4'
import type { S3Request } from './request.ts'

export const ALGORITHM = 'AWS4-HMAC-SHA256'
const SERVICE = 's3'

export type Credentials = { accessKeyId: string; secretAccessKey: string }

export type Signer = {
  accessKeyId: string
  region: string
  /** What a signature of this day is good for: `20250101/us-east-1/s3/aws4_request`. */
  scope: (date: SigningDate) => string
  /** The signature of a text, in hex. */
  sign: (text: string, date: SigningDate) => Promise<string>
}

/** A time as AWS writes it, `20250101T120000Z`, and the same as a Date. */
export type SigningDate = { text: string; at: Date }

type Sha256Constructor = ConstructorParameters<typeof SignatureV4>[0]['sha256']
type Sha256Secret = ConstructorParameters<Sha256Constructor>[0]

/** The signer calls `new` on this; what a function returns is then what `new` gives. */
function Sha256(secret?: Sha256Secret) {
  const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(secret))
  return {
    update: (bytes: Uint8Array) => {
      hash.update(bytes)
    },
    digest: async () => new Uint8Array(hash.digest()),
    reset: () => {},
  }
}

const toBytes = (secret: NonNullable<Sha256Secret>): string | Uint8Array => {
  if (typeof secret === 'string') return secret
  if (ArrayBuffer.isView(secret)) {
    return new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength)
  }
  return new Uint8Array(secret)
}

/** A signer for the one pair of credentials that this server knows. */
export const createSigner = (credentials: Credentials, region: string): Signer => {
  const signer = new SignatureV4({
    credentials,
    region,
    service: SERVICE,
    sha256: Sha256 as unknown as Sha256Constructor,
    uriEscapePath: false,
  })
  return {
    accessKeyId: credentials.accessKeyId,
    region,
    scope: date => `${date.text.slice(0, 8)}/${region}/${SERVICE}/aws4_request`,
    sign: (text, date) => signer.sign(text, { signingDate: date.at }),
  }
}

/** The time in AWS's form, or undefined for anything else. */
export const parseSigningDate = (text: string): SigningDate | undefined => {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text)
  if (!parts) return undefined
  const [, year, month, day, hour, minute, second] = parts
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(at.getTime()) ? undefined : { text, at }
}

/** What a request's signature is computed of (S3 API reference, "Task 2: string to sign"). */
export const requestText = (
  request: S3Request,
  signed: { headers: string[]; payloadHash: string; date: SigningDate; scope: string },
): string => {
  const canonical = [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(request),
    ...signed.headers.map(name => `${name}:${canonicalValue(request.headers.get(name) ?? '')}`),
    '',
    signed.headers.join(';'),
    signed.payloadHash,
  ].join('\n')
  return [ALGORITHM, signed.date.text, signed.scope, sha256(canonical)].join('\n')
}

/** Whether two signatures are the same, in a time that doesn't tell how far they agree. */
export const sameSignature = (left: string, right: string): boolean => {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Decoded and encoded again: clients differ in what they escape, the signature doesn't. */
const canonicalPath = (path: string): string =>
  path
    .split('/')
    .map(part =>
      encodeURIComponent(part).replace(
        /[!'()*]/g,
        character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
    .join('/')

const canonicalQuery = (request: S3Request): string => {
  const names = [...new Set(request.query.keys())]
  return getCanonicalQuery({
    method: request.method,
    protocol: 'http:',
    hostname: '',
    path: request.path,
    headers: {},
    query: Object.fromEntries(names.map(name => [name, request.query.getAll(name)])),
  })
}

const canonicalValue = (value: string): string => value.trim().replace(/\s+/g, ' ')
