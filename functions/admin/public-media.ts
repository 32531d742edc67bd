import * as z from 'zod'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint } from '../../lib/http/endpoint.ts'
import { anyone } from '../../lib/http/public-access.ts'
import { redirection, redirectTo } from '../../lib/http/redirect.ts'
import { MediaId } from '../../lib/http/wire.ts'
import { assetUrl, openPublic } from '../../lib/media/public-link.ts'

export const endpoints = {
  openPublicMedia: endpoint(
    {
      method: 'GET',
      path: '/api/v1/public/media/{id}',
      tag: 'Media',
      summary: 'Open a file by its public link',
      access: anyone,
      params: { id: MediaId },
      query: z.object({
        token: z.string().default('').describe('The link’s own; it opens this file, and no key.'),
      }),
      responses: { 302: redirection },
      errors: ['NOT_FOUND', 'NOT_CONFIGURED'],
    },
    async ({ context, params, query }) => {
      const asset = await openPublic(params.id, query.token)
      return redirectTo(context, await assetUrl(asset))
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))
