import { authenticated, createApp, handlerOf } from '../../lib/http/app.ts'

const app = createApp().get('/api/v1/principals/me', authenticated, context => {
  const caller = context.get('caller')
  return context.json({
    data: {
      kind: caller.kind,
      id: caller.id,
      principal_id: caller.principalId,
      key_id: caller.keyId,
      scopes: caller.scopes,
      ...(caller.kind === 'user' ? { role: caller.role } : {}),
    },
  })
})

export const handler = handlerOf(app)
