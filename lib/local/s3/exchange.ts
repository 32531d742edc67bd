import type { Payload } from './payload.ts'
import type { Reply, S3Request } from './request.ts'
import type { Signer } from './signature.ts'
import type { Store } from './store.ts'

/** What an operation works with: the request, let in, and what the server knows. */
export type Exchange = {
  request: S3Request
  payload: Payload
  store: Store
  signer: Signer
  now: Date
}

export type Handler = (exchange: Exchange) => Promise<Reply>
