import { AppError, notFound } from '../core/errors.ts'
import type { Caller } from '../principal/caller.ts'
import { getInvitation, type Invitation } from '../principal/invitation.ts'
import { allows, relationToInstance } from '../principal/permission.ts'
import { access, demand } from './access.ts'
import { InvitationId } from './wire.ts'

export const governedInvitation = access({
  who: 'An admin; of an invitation into a group, its owners and admins as well.',
  what: 'invitation',
  params: { id: InvitationId },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  find: async ({ caller, params: { id } }): Promise<{ invitation: Invitation; user: User }> => {
    const missing = () => notFound('invitation', id)
    const invitation = await getInvitation(id)
    if (!invitation || caller.kind !== 'user') throw missing()
    // Whom the instance invites is nobody's to know but its admins'.
    if (invitation.groupId === undefined && !isAdmin(caller)) throw missing()
    await demandInviter(caller, invitation, missing)
    return { invitation, user: caller }
  },
})

type User = Caller & { kind: 'user' }
type Into = {
  role: Invitation['role']
  groupId?: Invitation['groupId'] | undefined
  groupRole?: Invitation['groupRole'] | undefined
}

/** Admins invite to anything; who keeps a group, into it alone, and its owners alone make owners. */
export const demandInviter = async (
  caller: User,
  { role, groupId, groupRole }: Into,
  missing: () => AppError,
): Promise<void> => {
  if (isAdmin(caller)) return
  if (role === 'admin' || groupId === undefined)
    throw new AppError(
      'FORBIDDEN',
      'Only an admin of the instance invites into it, or as an admin.',
    )
  const permission = groupRole === 'owner' ? 'own' : 'manage-members'
  await demand(caller, permission, { principalId: groupId }, missing)
}

/** Whoever is made to decide is made so by a key that may: a key gives no more than it has. */
export const demandDecider = (caller: User, { role, groupRole = 'member' }: Into): void => {
  const makesDecider = role === 'admin' || allows(`group-${groupRole}`, 'decide')
  if (!makesDecider || caller.scopes.includes('decide')) return
  throw new AppError(
    'FORBIDDEN',
    'This key may not invite anyone who decides: it lacks the scope "decide".',
  )
}

const isAdmin = (caller: User): boolean => allows(relationToInstance(caller), 'manage-instance')
