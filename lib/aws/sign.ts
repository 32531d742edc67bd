import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import { credentials, region } from './endpoint.ts'
import type { HttpRequest } from './http.ts'

/** A request with its signature in its headers; `service` is its name in signatures. */
export const sign = async (service: string, request: HttpRequest): Promise<HttpRequest> => {
  const signed = await signerOf(service).sign(request)
  return { ...request, headers: signed.headers }
}

/** A request that anyone may send for as long as `expiresIn` seconds, its signature in its query. */
export const presign = async (
  service: string,
  request: HttpRequest,
  expiresIn: number,
): Promise<HttpRequest> => {
  const signed = await signerOf(service).presign(request, { expiresIn })
  return { ...request, query: signed.query as Record<string, string> }
}

/** Made anew each time: Lambda may give a function other keys while it lives. */
const signerOf = (service: string) =>
  new SignatureV4({
    service,
    region: region(),
    credentials: credentials(),
    sha256: Sha256,
    // S3 takes the path as it is; all others have it escaped once more.
    uriEscapePath: service !== 's3',
  })

/** Node's SHA-256, or its HMAC where there is a secret, as the signer wants it. */
class Sha256 {
  readonly #hash: { update: (data: string | Uint8Array) => unknown; digest: () => Uint8Array }

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Uint8Array)
  }

  update(data: Uint8Array): void {
    this.#hash.update(data)
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {
    throw new Error('A hash is made for one text.')
  }
}
