import { notFound } from '../../lib/core/errors.ts'
import { authenticated, createApp, handlerOf } from '../../lib/http/app.ts'
import { pathId } from '../../lib/http/request.ts'
import { governs } from '../../lib/principal/caller.ts'
import { getKey, revokeKey } from '../../lib/principal/key.ts'

const app = createApp().delete('/api/v1/keys/:id', authenticated, async context => {
  const id = pathId(context, 'key')
  const key = await getKey(id)
  if (!key || !governs(context.get('caller'), key.principalId)) throw notFound('key', id)
  await revokeKey(id)
  return context.json({ data: { id, revoked: true } })
})

export const handler = handlerOf(app)
