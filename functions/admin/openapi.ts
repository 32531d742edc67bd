import type { Context } from 'hono'
import { publicUrl } from '../../lib/core/config.ts'
import { appOf, type Env, handlerOf } from '../../lib/http/app.ts'
import { type Content, contentOf, sendContent } from '../../lib/http/content.ts'
import { endpoint } from '../../lib/http/endpoint.ts'
import type { OpenApiDocument } from '../../lib/http/openapi/document.ts'
import { anyone } from '../../lib/http/public-access.ts'

export const endpoints = {
  getOpenApi: endpoint(
    {
      method: 'GET',
      path: '/api/v1/openapi.json',
      tag: 'Reference',
      summary: 'Get this document',
      description:
        'No key is asked for: it says how to use the API, and nothing of who does or with what.',
      access: anyone,
      responses: {
        200: { description: 'An OpenAPI 3.1 document.', types: ['application/json'] },
        304: { description: 'The caller has it already.' },
      },
    },
    async ({ context }) => sendContent(context, await contentFor(originOf(context))),
  ),
}

export const handler = handlerOf(appOf(endpoints))

let document: Promise<OpenApiDocument> | undefined
let latest: { origin: string; content: Promise<Content> } | undefined

/** The document for whoever came by this address; it is made once, and its text kept for one. */
const contentFor = (origin: string): Promise<Content> => {
  if (latest?.origin !== origin) latest = { origin, content: write(origin) }
  return latest.content
}

const write = async (origin: string): Promise<Content> => {
  document ??= import('./openapi/build.ts').then(({ build }) => build())
  const whole = { ...(await document), servers: [{ url: origin }] }
  return contentOf('application/json', Buffer.from(JSON.stringify(whole)))
}

/** A gateway's own address, which is behind the one that people use. */
const GATEWAY = /\.amazonaws\.com(\.cn)?$/

/** Where the request came in, as the gateway says: a caller's own Host header can't change it. */
const originOf = ({ env, req }: Context<Env>): string => {
  const { event } = env
  const domain = event && 'domainName' in event.requestContext && event.requestContext.domainName
  if (!domain) return new URL(req.url).origin
  if (GATEWAY.test(domain)) return publicUrl()
  const protocol = req.header('x-forwarded-proto') === 'http' ? 'http' : 'https'
  return `${protocol}://${domain}`
}
