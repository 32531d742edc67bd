import * as z from 'zod'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply } from '../../lib/http/endpoint.ts'
import { anyone } from '../../lib/http/public-access.ts'
import { limitOf } from '../../lib/http/stranger.ts'
import { KeyId, Name, UserId } from '../../lib/http/wire.ts'
import { claimInstance } from '../../lib/principal/claim.ts'

const MAX_SECRET_CHARS = 1_000

export const endpoints = {
  claimInstance: endpoint(
    {
      method: 'POST',
      path: '/api/v1/claim',
      tag: 'Sign-in',
      summary: 'Become the first admin',
      description:
        'With the secret that the deployment was given, which counts once. The answer is the one time that the key is shown.',
      access: anyone,
      body: z.strictObject({
        secret: z.string().min(1).max(MAX_SECRET_CHARS),
        name: Name.default('Admin'),
      }),
      responses: { 201: z.object({ user_id: UserId, key_id: KeyId, key: z.string() }) },
      errors: ['NOT_FOUND', 'INVALID_STATE', 'TOO_MANY_REQUESTS', 'NOT_CONFIGURED'],
    },
    async ({ context, body }) => {
      await limitOf(context)
      const { userId, key, text } = await claimInstance(body)
      context.header('cache-control', 'no-store')
      return reply(201, { user_id: userId, key_id: key.id, key: text })
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))
