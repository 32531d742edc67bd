import { governedAsset, governingUser } from '../../lib/http/access.ts'
import { authenticated, createApp, handlerOf } from '../../lib/http/app.ts'
import { readPage } from '../../lib/http/request.ts'
import { type Asset, listAssets, revokeLink } from '../../lib/media/asset.ts'
import { presignedUrl, publicLink } from '../../lib/media/public-link.ts'

const app = createApp()

app.get('/api/v1/media', authenticated, async context => {
  const { principalId } = governingUser(context)
  const { items, cursor } = await listAssets(principalId, readPage(context))
  return context.json({ data: items.map(presentAsset), next_cursor: cursor ?? null })
})

app.get('/api/v1/media/:id', authenticated, async context =>
  context.json({ data: presentAsset(await governedAsset(context)) }),
)

app.post('/api/v1/media/:id/public-link', authenticated, async context => {
  const asset = await governedAsset(context)
  return context.json({ data: { media_id: asset.id, public_url: await publicLink(asset) } }, 201)
})

app.delete('/api/v1/media/:id/public-link', authenticated, async context =>
  context.json({ data: presentAsset(await revokeLink(await governedAsset(context))) }),
)

app.get('/api/v1/assets/:id', authenticated, async context => {
  const url = await presignedUrl(await governedAsset(context))
  context.header('cache-control', 'no-store')
  context.header('referrer-policy', 'no-referrer')
  return context.redirect(url, 302)
})

export const handler = handlerOf(app)

const presentAsset = (asset: Asset) => ({
  id: asset.id,
  principal_id: asset.principalId,
  agent_id: asset.agentId ?? null,
  task_id: asset.taskId ?? null,
  filename: asset.filename,
  mime_type: asset.mimeType,
  bytes: asset.bytes,
  prompt: asset.prompt ?? null,
  signature: asset.signature ?? null,
  public_link: asset.linkActive,
  asset_url: `/api/v1/assets/${asset.id}`,
  created_at: asset.createdAt,
})
