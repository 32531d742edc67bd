import type * as z from 'zod'
import { AppError, type ErrorCode } from '../core/errors.ts'
import type { Caller, Credential } from '../principal/caller.ts'
import { allows, type Permission, relationTo } from '../principal/permission.ts'
import type { PrincipalId } from '../principal/principal.ts'
import { identify } from './identify.ts'

/** The schemas of a path's parameters, by name. */
export type PathSchemas = Record<string, z.ZodType<string>>
export type Parsed<Schemas> = {
  [Name in keyof Schemas]: Schemas[Name] extends z.ZodType ? z.output<Schemas[Name]> : never
}

/**
 * Whom a route serves, and about what: the rule, and the same in words for the OpenAPI document.
 * What is in a path is found only by those it concerns; to everyone else it does not exist.
 */
export type Access<Params extends PathSchemas = PathSchemas, Subject = unknown> = {
  /** Proves who asks. A public rule has none, and its `find` gets no caller. */
  authenticate?: (credential: Credential) => Promise<Caller>
  /** A sentence that begins with who may ask. */
  who: string
  /** What the path names, for the words of a NOT_FOUND. */
  what?: string
  params?: Params
  /** Codes of its own refusals; UNAUTHENTICATED goes without saying. */
  errors?: readonly ErrorCode[]
  /** The route's subject, or the refusal. */
  find(asked: { caller: Caller; params: Parsed<Params> }): Subject | Promise<Subject>
}

/** A rule that asks for a key, or a session. */
export const access = <Params extends PathSchemas, Subject>(rule: Access<Params, Subject>) => ({
  authenticate: identify,
  ...rule,
})

export const anyKey = access({
  who: 'Every key.',
  find: ({ caller }) => caller,
})

/** The caller, who is a user; keys of agents govern nothing. */
export const governingUser = access({
  who: 'A user’s key; it is about what the user owns.',
  errors: ['FORBIDDEN'],
  find: ({ caller }): Caller & { kind: 'user' } => {
    if (caller.kind === 'user') return caller
    throw usersOnly()
  },
})

export const usersOnly = () =>
  new AppError('FORBIDDEN', 'An agent’s key can’t do this; use a user’s key.')

/** What belongs to a principal, and of what an agent did the agent. */
export type Owned = { principalId: PrincipalId; agentId?: string }

/**
 * Lets through whom the table of permissions allows. To those whom it doesn't even let read, what
 * they ask for is `missing`; others are FORBIDDEN. An agent's key reads what its agent did.
 */
export const demand = async (
  caller: Caller,
  permission: Permission,
  { principalId, agentId }: Owned,
  missing: () => AppError,
): Promise<void> => {
  const relation = await relationTo(caller, principalId)
  if (allows(relation, permission)) return
  const isOwn = caller.kind === 'agent' && caller.id === agentId
  if (isOwn && permission === 'read') return
  if (!isOwn && !allows(relation, 'read')) throw missing()
  if (caller.kind === 'agent') throw usersOnly()
  const role = relation?.replace('group-', '')
  throw new AppError(
    'FORBIDDEN',
    role === 'self'
      ? 'Only an admin of the instance may do this.'
      : `The role "${role}" in the group doesn’t allow this; ask one of its owners.`,
  )
}
