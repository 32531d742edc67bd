// What the tests use of the package, which brings no types of its own.
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  type Grant = { addOIDCScope: (scope: string) => void; save: () => Promise<string> }

  export class Provider {
    constructor(issuer: string, configuration: object)
    Grant: new (grant: {
      accountId: string
      clientId: string
    }) => Grant
    callback(): RequestListener
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>
    on(event: string, listener: (...parts: unknown[]) => void): void
  }
}
