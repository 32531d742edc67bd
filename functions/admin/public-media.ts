import { createApp, handlerOf } from '../../lib/http/app.ts'
import { pathId } from '../../lib/http/request.ts'
import { openPublic, presignedUrl } from '../../lib/media/public-link.ts'

const app = createApp().get('/api/v1/public/media/:id', async context => {
  const asset = await openPublic(pathId(context, 'media'), context.req.query('token') ?? '')
  context.header('cache-control', 'no-store')
  context.header('referrer-policy', 'no-referrer')
  return context.redirect(await presignedUrl(asset), 302)
})

export const handler = handlerOf(app)
