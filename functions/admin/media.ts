import * as z from 'zod'
import { governingUser } from '../../lib/http/access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { managedAsset, readableAsset } from '../../lib/http/asset-access.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import { listOwner, OwnerQuery } from '../../lib/http/list-owner.ts'
import { AssetView, presentAsset } from '../../lib/http/present-asset.ts'
import { redirection, redirectTo } from '../../lib/http/redirect.ts'
import { MediaId } from '../../lib/http/wire.ts'
import { listAssets, revokeLink } from '../../lib/media/asset.ts'
import { assetUrl, publicLink } from '../../lib/media/public-link.ts'

const tag = 'Media'

export const endpoints = {
  listMedia: endpoint(
    {
      method: 'GET',
      path: '/api/v1/media',
      tag,
      summary: 'List stored files',
      description: 'One’s own, or those of another principal.',
      access: governingUser,
      query: OwnerQuery,
      isPaged: true,
      responses: { 200: z.array(AssetView) },
      errors: ['NOT_FOUND'],
    },
    async ({ subject, query, page }) => {
      const { items, cursor } = await listAssets(await listOwner(subject, query), page)
      return replyPage(items.map(presentAsset), cursor)
    },
  ),

  getMedia: endpoint(
    {
      method: 'GET',
      path: '/api/v1/media/{id}',
      tag,
      summary: 'Show a stored file',
      access: readableAsset,
      responses: { 200: AssetView },
    },
    ({ subject }) => reply(200, presentAsset(subject)),
  ),

  openPublicLink: endpoint(
    {
      method: 'POST',
      path: '/api/v1/media/{id}/public-link',
      tag,
      summary: 'Make the link that anyone can open',
      description: 'Asking again gives the same link, until it is revoked.',
      access: managedAsset,
      responses: { 201: z.object({ media_id: MediaId, public_url: z.url() }) },
      errors: ['NOT_CONFIGURED'],
    },
    async ({ subject }) =>
      reply(201, { media_id: subject.id, public_url: await publicLink(subject) }),
  ),

  revokePublicLink: endpoint(
    {
      method: 'DELETE',
      path: '/api/v1/media/{id}/public-link',
      tag,
      summary: 'Revoke every link made so far',
      access: managedAsset,
      responses: { 200: AssetView },
    },
    async ({ subject }) => reply(200, presentAsset(await revokeLink(subject))),
  ),

  openAsset: endpoint(
    {
      method: 'GET',
      path: '/api/v1/assets/{id}',
      tag,
      summary: 'Open a file',
      description: 'The address works for a minute. Follow it without your key.',
      access: readableAsset,
      responses: { 302: redirection },
    },
    async ({ context, subject }) => redirectTo(context, await assetUrl(subject)),
  ),
}

export const handler = handlerOf(appOf(endpoints))
