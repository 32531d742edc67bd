import * as z from 'zod'
import { type AuditOwner, listAudit } from '../../lib/audit/audit.ts'
import { AppError, notFound } from '../../lib/core/errors.ts'
import { anyKey, demand } from '../../lib/http/access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, replyPage } from '../../lib/http/endpoint.ts'
import { AuditView, presentEntry } from '../../lib/http/present-audit.ts'
import { PrincipalId } from '../../lib/http/wire.ts'
import type { Caller } from '../../lib/principal/caller.ts'
import { type PrincipalId as Id, principalExists } from '../../lib/principal/principal.ts'

export const endpoints = {
  listAudit: endpoint(
    {
      method: 'GET',
      path: '/api/v1/audit',
      tag: 'Audit',
      summary: 'List who changed what',
      description:
        'Of what an owner has, or, without `principal_id`, of the instance: the newest first. With `target`, a page may have fewer entries than fit, also while there are more.',
      access: {
        ...anyKey,
        who: 'An admin’s key; about an owner’s, the principal’s own, or one of an owner or admin of the group.',
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      },
      query: z.object({
        principal_id: PrincipalId.optional(),
        target: z
          .string()
          .min(1)
          .optional()
          .describe('What was changed, such as an agent’s id, or `instance`.'),
      }),
      isPaged: true,
      responses: { 200: z.array(AuditView) },
    },
    async ({ caller, query: { principal_id, target }, page }) => {
      const owner = await readableLog(caller, principal_id)
      const { items, cursor } = await listAudit(owner, { ...page, ...(target ? { target } : {}) })
      return replyPage(items.map(presentEntry), cursor)
    },
  ),
}

export const handler = handlerOf(appOf(endpoints))

/** Whose log is asked for, if the caller may see it. */
const readableLog = async (caller: Caller, principalId: Id | undefined): Promise<AuditOwner> => {
  if (principalId !== undefined) {
    const missing = () => notFound('principal', principalId)
    await demand(caller, 'audit', { principalId }, missing)
    if (principalId !== caller.principalId && !(await principalExists(principalId))) throw missing()
    return principalId
  }
  if (caller.kind === 'user' && caller.role === 'admin') return 'instance'
  throw new AppError(
    'FORBIDDEN',
    'Only an admin of the instance sees its log. Name the principal whose log you mean: ?principal_id=…',
  )
}
