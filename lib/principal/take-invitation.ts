import { auditWrite } from '../audit/audit.ts'
import { type Clock, isoNow } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { Group, GroupRole, memberKey, memberOf, newMember, ownersBy } from './group.ts'
import { GONE, type Invitation, invitationKey, logOf } from './invitation.ts'
import { roleFrom, roleKeys } from './member.ts'
import { allows } from './permission.ts'
import { principalKey, User } from './principal.ts'
import { type Step, step } from './steps.ts'

/**
 * The steps by which a user takes an invitation: it, its entry in the log, the group it leads into,
 * and that whoever made it may still give what it gives. SIGN_IN_REFUSED where they may not.
 */
export const taking = async (
  invitation: Invitation,
  userId: Id<'user'>,
  clock: Clock,
): Promise<Step[]> => {
  const { id, groupId, groupRole: role = 'member', createdBy } = invitation
  const now = isoNow(clock)
  const entry = { by: userId, action: 'invitation-taken', target: id }
  return [
    step(
      {
        key: invitationKey(id),
        update: { set: { takenAt: now, takenBy: userId } },
        where: { takenAt: is.absent, revokedAt: is.absent, expiresAt: is.above(now) },
      },
      GONE,
    ),
    step(auditWrite(logOf(invitation), entry, clock), GONE),
    ...(await standing(invitation)),
    ...(groupId === undefined
      ? []
      : [
          step(
            newMember(memberOf({ groupId, userId, role, by: createdBy }, clock)),
            'You are a member of that group already.',
          ),
          step(
            ownersBy(groupId, role === 'owner' ? 1 : 0),
            'The group that this invitation led into is gone. Ask for another one.',
          ),
        ]),
  ]
}

const LAPSED =
  'Whoever made this invitation may not invite like this any more. Ask for another one.'

/** An invitation gives what its maker may give as it is taken: nobody comes back by one made in time. */
const standing = async ({ createdBy, role, groupId, groupRole }: Invitation): Promise<Step[]> => {
  const keys = groupId === undefined ? [] : roleKeys(groupId, createdBy)
  const found = await table.batchGet([principalKey(createdBy), ...keys])
  const maker = found.get(User, principalKey(createdBy))
  const isActive = { disabledAt: is.absent }
  if (maker?.role === 'admin' && maker.disabledAt === undefined)
    return [step({ check: principalKey(createdBy), where: { ...isActive, role: 'admin' } }, LAPSED)]
  const inviters = GroupRole.options.filter(each =>
    allows(`group-${each}`, groupRole === 'owner' ? 'own' : 'manage-members'),
  )
  const own = groupId && roleFrom(found, groupId, createdBy)
  // Of a group that has ended the step of joining it says so.
  if (groupId !== undefined && !found.get(Group, principalKey(groupId))) return []
  const isOut = !maker || maker.disabledAt !== undefined || !own || !inviters.includes(own)
  if (role === 'admin' || groupId === undefined || isOut)
    throw new AppError('SIGN_IN_REFUSED', LAPSED)
  return [
    step({ check: principalKey(createdBy), where: isActive }, LAPSED),
    step({ check: memberKey(groupId, createdBy), where: { role: is.oneOf(inviters) } }, LAPSED),
  ]
}
