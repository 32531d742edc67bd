import { S3Error } from './errors.ts'
import { type Payload, toPayload, UNSIGNED_PAYLOAD } from './payload.ts'
import type { S3Request } from './request.ts'
import {
  ALGORITHM,
  parseSigningDate,
  requestText,
  type Signer,
  type SigningDate,
  sameSignature,
} from './signature.ts'

/** How far a client's clock may be off (S3 error RequestTimeTooSkewed: 15 minutes). */
export const MAX_CLOCK_SKEW_MS = 15 * 60_000
/** The longest life of a presigned URL (S3 user guide, "Presigned URLs": seven days). */
export const MAX_PRESIGNED_SECONDS = 7 * 24 * 60 * 60

/** What a request claims, from its Authorization header or its query. */
type Claim = {
  credential: string
  signedHeaders: string[]
  signature: string
  date: SigningDate
  payloadHash: string
  malformed: 'AuthorizationHeaderMalformed' | 'AuthorizationQueryParametersError'
}

/**
 * Refuses a request whose signature doesn't hold, before a byte of its body is read. Says how
 * the body is to be read and checked. A presigned URL's `x-amz-` parameters join the headers.
 */
export const authenticate = async (
  request: S3Request,
  signer: Signer,
  now: Date,
): Promise<Payload> => {
  const claim = request.headers.has('authorization')
    ? claimOfHeader(request, now)
    : claimOfQuery(request, now)
  checkCredential(claim.credential, claim.date, signer, claim.malformed)
  checkCoverage(request, claim)
  const scope = signer.scope(claim.date)
  const text = requestText(request, {
    headers: claim.signedHeaders,
    payloadHash: claim.payloadHash,
    date: claim.date,
    scope,
  })
  if (!sameSignature(await signer.sign(text, claim.date), claim.signature)) throw mismatch()
  if (request.query.has('X-Amz-Signature')) hoist(request)
  return toPayload(claim.payloadHash, { signer, date: claim.date, seed: claim.signature })
}

export const mismatch = (): S3Error =>
  new S3Error(
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided.',
  )

/** Throws unless the credential is ours, of the signature's own day, and of this scope. */
export const checkCredential = (
  credential: string,
  date: SigningDate,
  signer: Signer,
  malformed: Claim['malformed'],
): void => {
  const slash = credential.indexOf('/')
  if (credential.slice(0, slash) !== signer.accessKeyId) {
    throw new S3Error('InvalidAccessKeyId', 'The access key ID you provided does not exist.')
  }
  if (credential.slice(slash + 1) === signer.scope(date)) return
  throw new S3Error(malformed, `The credential must end in "${signer.scope(date)}".`)
}

const claimOfHeader = (request: S3Request, now: Date): Claim => {
  const malformed = 'AuthorizationHeaderMalformed'
  const header = request.headers.get('authorization') ?? ''
  if (request.query.has('X-Amz-Signature')) {
    throw new S3Error('InvalidArgument', 'Only one auth mechanism is allowed.')
  }
  const parts =
    /^AWS4-HMAC-SHA256\s+Credential=([^,\s]+)\s*,\s*SignedHeaders=([^,\s]+)\s*,\s*Signature=([0-9a-f]{64})$/.exec(
      header,
    )
  const [, credential, signedHeaders, signature] = parts ?? []
  if (!credential || !signedHeaders || !signature) {
    throw new S3Error(malformed, 'The authorization header you provided is invalid.')
  }
  const date = parseSigningDate(request.headers.get('x-amz-date') ?? '')
  if (!date) throw new S3Error('AccessDenied', 'A valid x-amz-date header is required.')
  if (Math.abs(now.getTime() - date.at.getTime()) > MAX_CLOCK_SKEW_MS) {
    throw new S3Error(
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
    )
  }
  const payloadHash = request.headers.get('x-amz-content-sha256')
  if (!payloadHash) {
    throw new S3Error('InvalidRequest', 'Missing required header: x-amz-content-sha256.')
  }
  const headers = signedHeaders.split(';')
  return { credential, signedHeaders: headers, signature, date, payloadHash, malformed }
}

const claimOfQuery = (request: S3Request, now: Date): Claim => {
  const malformed = 'AuthorizationQueryParametersError'
  const parameter = (name: string): string => request.query.get(`X-Amz-${name}`) ?? ''
  if (!request.query.has('X-Amz-Signature')) throw new S3Error('AccessDenied', 'Access Denied')
  const date = parseSigningDate(parameter('Date'))
  if (parameter('Algorithm') !== ALGORITHM || !date) {
    throw new S3Error(malformed, `X-Amz-Algorithm must be ${ALGORITHM} and X-Amz-Date a time.`)
  }
  const seconds = /^\d{1,9}$/.test(parameter('Expires')) ? Number(parameter('Expires')) : 0
  if (seconds < 1 || seconds > MAX_PRESIGNED_SECONDS) {
    throw new S3Error(malformed, `X-Amz-Expires must be from 1 to ${MAX_PRESIGNED_SECONDS}.`)
  }
  const ageMs = now.getTime() - date.at.getTime()
  if (ageMs > seconds * 1000) throw new S3Error('AccessDenied', 'Request has expired')
  if (ageMs < -MAX_CLOCK_SKEW_MS) {
    throw new S3Error('AccessDenied', 'Request is not valid yet')
  }
  return {
    credential: parameter('Credential'),
    signedHeaders: parameter('SignedHeaders').split(';'),
    signature: parameter('Signature'),
    date,
    payloadHash:
      request.headers.get('x-amz-content-sha256') ??
      request.query.get('X-Amz-Content-Sha256') ??
      UNSIGNED_PAYLOAD,
    malformed,
  }
}

/** An unsigned `x-amz-` header could turn a put into a copy, or set metadata nobody granted. */
const checkCoverage = (request: S3Request, claim: Claim): void => {
  if (!claim.signedHeaders.includes('host')) {
    throw new S3Error(claim.malformed, 'The host header must be signed.')
  }
  if (request.headers.has('x-amz-security-token') || request.query.has('X-Amz-Security-Token')) {
    throw new S3Error('InvalidToken', 'The provided token is malformed or otherwise invalid.')
  }
  const unsigned = [...request.headers.keys()].filter(
    name => name.startsWith('x-amz-') && !claim.signedHeaders.includes(name),
  )
  if (unsigned.length === 0) return
  throw new S3Error(
    'AccessDenied',
    `There were headers present in the request which were not signed: ${unsigned.join(', ')}`,
  )
}

/** A presigner moves `x-amz-` headers into the query, where they mean the same. */
const hoist = (request: S3Request): void => {
  for (const [name, value] of request.query) {
    const header = name.toLowerCase()
    if (header.startsWith('x-amz-') && !request.headers.has(header)) {
      request.headers.set(header, value)
    }
  }
}
