import { PERMISSIONS, type Permission, type Relation } from '../../lib/principal/permission.ts'

// What the table of permissions says of each route, in its own words, and what follows from them
// for whoever asks. Nothing here looks at how a route decides.

/** What a route may be about; a group's `key` is one of its agent's. */
export type Thing =
  | 'principal'
  | 'agent'
  | 'spareAgent'
  | 'task'
  | 'call'
  | 'unknownCall'
  | 'media'
  | 'user'
  | 'key'
  | 'session'
  | 'group'
  | 'spareGroup'
  | 'member'
  | 'invitation'
  | 'llmConfiguration'
  | 'subscription'

/**
 * Whose a thing is: the caller's counterpart's, which is a user for some callers and a group for
 * others; always the user's; always the group's; or the instance's.
 */
export const OWNER_OF: Record<Thing, 'counterpart' | 'user' | 'group' | 'instance'> = {
  principal: 'counterpart',
  agent: 'counterpart',
  spareAgent: 'counterpart',
  task: 'counterpart',
  call: 'counterpart',
  unknownCall: 'counterpart',
  media: 'counterpart',
  key: 'counterpart',
  user: 'user',
  session: 'user',
  group: 'group',
  spareGroup: 'group',
  member: 'group',
  invitation: 'instance',
  llmConfiguration: 'counterpart',
  subscription: 'counterpart',
}

/** What a path or a body names; the newcomer is a user of whom nothing is known. */
export type Ids = Record<Thing | 'newcomer', string>

export type Row = (
  | {
      /** Whom the route serves, whatever it is about. */
      for: 'everyone' | 'every key' | 'users' | 'admins' | 'sessions'
    }
  | {
      /** The row of the table that lets someone in, and what the path (or the body) names. */
      may: Permission
      of: Thing
      /** A key needs the scope as well. */
      needsDecide?: true
      /** What an agent did is the agent's own to read. */
      isDoneByAgents?: true
      /** Keys of agents are sent away before anything is looked at. */
      isForUsers?: true
    }
) & {
  /** What those who get in are answered; 200 unless said. */
  answer?: number
  /** What the owner is answered who has signed in, where that isn't what the owner's key is. */
  signedIn?: number
  /** A page for people, whose refusals are words. */
  isWords?: true
  /** What the path names beside its `{id}`. */
  parts?: Record<string, string | ((ids: Ids) => string)>
  body?: (ids: Ids) => unknown
  headers?: Record<string, string>
}

/** Who asks, as far as that decides about the answer. */
export type Asker = {
  /** What the key proves; nothing without one, or with one that does not count. */
  kind: 'nobody' | 'user' | 'agent'
  /** What the table calls the caller to the owner of what is asked about. */
  relation: Relation | undefined
  /** An agent that asks about itself, and what it did. */
  isItself?: true
  lacksDecide?: true
}

const may = (relation: Relation | undefined, permission: Permission): boolean =>
  relation !== undefined && (PERMISSIONS[permission] as readonly Relation[]).includes(relation)

/** The status that the table's words mean for a caller. */
export const expected = (row: Row, asker: Asker): number => {
  const { answer = 200 } = row
  if ('for' in row) return expectedFor(row.for, asker) ?? answer
  if (asker.kind === 'nobody') return 401
  if (row.isForUsers && asker.kind === 'agent') return 403
  if (may(asker.relation, row.may)) return row.needsDecide && asker.lacksDecide ? 403 : answer
  if (asker.isItself && row.isDoneByAgents) return row.may === 'read' ? answer : 403
  // Who may see what is there is told that it may do no more; to others nothing is there.
  return may(asker.relation, 'read') ? 403 : 404
}

/** Undefined for who gets in. */
const expectedFor = (
  whom: Extract<Row, { for: unknown }>['for'],
  { kind, relation }: Asker,
): number | undefined => {
  if (whom === 'everyone') return undefined
  if (kind === 'nobody') return 401
  if (whom === 'sessions') return 404
  if (whom === 'users' && kind === 'agent') return 403
  if (whom === 'admins' && !may(relation, 'manage-instance')) return 403
  return undefined
}

/** A webhook that nobody listens at, and that the walk lets itself be sent to. */
export const NOBODY = 'http://127.0.0.1:9/hook'
const MODEL = { provider: 'rehearsal', name: 'script' }
const tool = { tool: 'time' }
const setting = { ...tool, key: 'timezone' }
const timezone = () => ({ timezone: 'UTC' })
const named = () => ({ name: 'Someone' })
/** Who changes an agent says of which version. */
const FIRST = { 'if-match': '"1"' }

/** Every route but those of operations; a route that is missing here fails the walk. */
export const WALK: Record<string, Row> = {
  'GET /api/v1/principals/me': { for: 'every key' },

  'GET /api/v1/users': { for: 'admins' },
  'POST /api/v1/users': { for: 'admins', answer: 201, body: named },
  'GET /api/v1/users/{id}': { may: 'read', of: 'user' },
  'PATCH /api/v1/users/{id}': { may: 'edit-profile', of: 'user', body: named },

  'GET /api/v1/groups': { for: 'users' },
  'POST /api/v1/groups': { for: 'users', answer: 201, body: named },
  'GET /api/v1/groups/{id}': { may: 'read', of: 'group' },
  'PATCH /api/v1/groups/{id}': { may: 'manage-members', of: 'group', body: named },
  'DELETE /api/v1/groups/{id}': { may: 'own', of: 'spareGroup' },
  'GET /api/v1/groups/{id}/members': { may: 'read', of: 'group' },
  'POST /api/v1/groups/{id}/members': {
    may: 'manage-members',
    of: 'group',
    answer: 201,
    body: ({ newcomer }) => ({ user_id: newcomer }),
  },
  'PATCH /api/v1/groups/{id}/members/{user_id}': {
    may: 'manage-members',
    of: 'member',
    parts: { id: ids => ids.group, user_id: ids => ids.member },
    body: () => ({ role: 'admin' }),
  },
  'DELETE /api/v1/groups/{id}/members/{user_id}': {
    may: 'manage-members',
    of: 'member',
    parts: { id: ids => ids.group, user_id: ids => ids.member },
  },

  'GET /api/v1/keys': { for: 'users' },
  'POST /api/v1/keys': { for: 'users', answer: 201, body: named },
  'DELETE /api/v1/keys/{id}': { may: 'manage-agents', of: 'key' },
  'GET /api/v1/agents/{id}/keys': { may: 'manage-agents', of: 'agent' },
  'POST /api/v1/agents/{id}/keys': { may: 'manage-agents', of: 'agent', answer: 201, body: named },

  // Without `principal_id` it is about the caller's own.
  'GET /api/v1/subscriptions': { for: 'users' },
  'POST /api/v1/subscriptions': {
    may: 'manage-notices',
    of: 'principal',
    isForUsers: true,
    answer: 201,
    body: ({ principal }) => ({
      name: 'A',
      url: NOBODY,
      principal_id: principal,
    }),
  },
  'GET /api/v1/subscriptions/{id}': { may: 'manage-notices', of: 'subscription' },
  'PATCH /api/v1/subscriptions/{id}': {
    may: 'manage-notices',
    of: 'subscription',
    body: named,
    headers: FIRST,
  },
  'DELETE /api/v1/subscriptions/{id}': {
    may: 'manage-notices',
    of: 'subscription',
    headers: FIRST,
  },
  'POST /api/v1/subscriptions/{id}/rotate-secret': { may: 'manage-notices', of: 'subscription' },
  'POST /api/v1/subscriptions/{id}/test': {
    may: 'manage-notices',
    of: 'subscription',
    answer: 202,
  },
  'GET /api/v1/subscriptions/{id}/deliveries': { may: 'manage-notices', of: 'subscription' },

  'GET /api/v1/tools': { for: 'every key' },
  'GET /api/v1/tools/{tool}': { for: 'every key', parts: tool },

  'GET /api/v1/tools/{tool}/settings': { for: 'admins', parts: tool },
  'PUT /api/v1/tools/{tool}/settings': { for: 'admins', parts: tool, body: timezone },
  'DELETE /api/v1/tools/{tool}/settings/{key}': { for: 'admins', parts: setting },
  'DELETE /api/v1/tools/{tool}/settings': { for: 'admins', parts: tool },
  'GET /api/v1/principals/{id}/tools/{tool}/settings': {
    may: 'read',
    of: 'principal',
    parts: tool,
  },
  'PUT /api/v1/principals/{id}/tools/{tool}/settings': {
    may: 'manage-settings',
    of: 'principal',
    parts: tool,
    body: timezone,
  },
  'DELETE /api/v1/principals/{id}/tools/{tool}/settings/{key}': {
    may: 'manage-settings',
    of: 'principal',
    parts: setting,
  },
  'DELETE /api/v1/principals/{id}/tools/{tool}/settings': {
    may: 'manage-settings',
    of: 'principal',
    parts: tool,
  },
  'GET /api/v1/agents/{id}/tools/{tool}/settings': { may: 'read', of: 'agent', parts: tool },
  'PUT /api/v1/agents/{id}/tools/{tool}/settings': {
    may: 'manage-agents',
    of: 'agent',
    parts: tool,
    body: timezone,
  },
  'DELETE /api/v1/agents/{id}/tools/{tool}/settings/{key}': {
    may: 'manage-agents',
    of: 'agent',
    parts: setting,
  },
  'DELETE /api/v1/agents/{id}/tools/{tool}/settings': {
    may: 'manage-agents',
    of: 'agent',
    parts: tool,
  },
  // Without `principal_id` it is about the instance.
  'GET /api/v1/audit': { for: 'admins' },

  'GET /api/v1/agents': { for: 'users' },
  'POST /api/v1/agents': {
    may: 'manage-agents',
    of: 'principal',
    isForUsers: true,
    answer: 201,
    body: ({ principal }) => ({ name: 'New', model: MODEL, principal_id: principal }),
  },
  'GET /api/v1/agents/{id}': { may: 'read', of: 'agent' },
  'PATCH /api/v1/agents/{id}': {
    may: 'manage-agents',
    of: 'spareAgent',
    body: named,
    headers: FIRST,
  },
  'DELETE /api/v1/agents/{id}': { may: 'manage-agents', of: 'spareAgent', headers: FIRST },
  'POST /api/v1/agents/{id}/transfer': {
    may: 'transfer',
    of: 'spareAgent',
    body: ({ principal }) => ({ principal_id: principal }),
    headers: FIRST,
  },
  'PATCH /api/v1/agents/{id}/tools': {
    may: 'manage-agents',
    of: 'spareAgent',
    body: () => ({ enabled: true, tools: ['time'] }),
  },
  'POST /api/v1/agents/{id}/tools/{tool}/enable': {
    may: 'manage-agents',
    of: 'spareAgent',
    parts: tool,
  },
  'DELETE /api/v1/agents/{id}/tools/{tool}/enable': {
    may: 'manage-agents',
    of: 'spareAgent',
    parts: tool,
  },
  'PATCH /api/v1/agents/{id}/tools/{tool}/operations/{operation}': {
    may: 'manage-agents',
    of: 'spareAgent',
    parts: { ...tool, operation: 'now' },
    body: () => ({ enabled: true }),
  },

  'GET /api/v1/agents/{id}/export': { may: 'read', of: 'agent' },
  // Without `principal_id` the agent is the caller's own.
  'POST /api/v1/agent-templates/import': {
    for: 'users',
    answer: 201,
    body: () => ({ id: 'a', version: '1', agent: { name: 'A', model: MODEL } }),
  },

  // Without `owner` it is about the caller's own.
  'GET /api/v1/llm-configurations': { for: 'users' },
  'POST /api/v1/llm-configurations': {
    may: 'manage-settings',
    of: 'principal',
    isForUsers: true,
    answer: 201,
    body: ({ principal }) => ({
      name: 'A',
      provider: 'rehearsal',
      model: 'script',
      owner: principal,
    }),
  },
  'GET /api/v1/llm-configurations/{id}': { may: 'read', of: 'llmConfiguration' },
  'PATCH /api/v1/llm-configurations/{id}': {
    may: 'manage-settings',
    of: 'llmConfiguration',
    body: named,
    headers: FIRST,
  },
  'DELETE /api/v1/llm-configurations/{id}': {
    may: 'manage-settings',
    of: 'llmConfiguration',
    headers: FIRST,
  },
  'GET /api/v1/llm-configurations/{id}/agents': { may: 'read', of: 'llmConfiguration' },
  'POST /api/v1/llm-configurations/{id}/test': { may: 'manage-settings', of: 'llmConfiguration' },

  'GET /api/v1/tasks': { for: 'every key' },
  'POST /api/v1/tasks': {
    may: 'run',
    of: 'agent',
    isForUsers: true,
    answer: 201,
    body: ({ agent }) => ({ agent_id: agent, prompt: 'Hello' }),
  },
  'GET /api/v1/tasks/{id}': { may: 'read', of: 'task', isDoneByAgents: true },
  'GET /api/v1/tasks/{id}/stream': { may: 'read', of: 'task', isDoneByAgents: true },
  'GET /api/v1/tasks/{id}/history': { may: 'read', of: 'task', isDoneByAgents: true },
  'GET /api/v1/tasks/{id}/events': { may: 'read', of: 'task', isDoneByAgents: true },
  'DELETE /api/v1/tasks/{id}': { may: 'delete-tasks', of: 'task', isDoneByAgents: true },
  'POST /api/v1/tasks/{id}/cancel': { may: 'run', of: 'task', isDoneByAgents: true },
  'POST /api/v1/tasks/{id}/abort': { may: 'run', of: 'task', isDoneByAgents: true },
  // Whoever may is told that the task has not ended so.
  'POST /api/v1/tasks/{id}/retry': {
    may: 'run',
    of: 'task',
    isDoneByAgents: true,
    answer: 409,
    body: () => ({}),
  },
  'POST /api/v1/tasks/{id}/continue': {
    may: 'run',
    of: 'task',
    isDoneByAgents: true,
    answer: 409,
    body: () => ({}),
  },
  'POST /api/v1/tasks/{id}/follow-up': {
    may: 'run',
    of: 'task',
    isDoneByAgents: true,
    body: () => ({ prompt: 'And then?' }),
  },

  'GET /api/v1/approvals': { for: 'users' },
  // Whoever may is told that the call asks nothing.
  'POST /api/v1/tool-calls/{id}/answer': {
    may: 'run',
    of: 'call',
    isDoneByAgents: true,
    answer: 409,
    body: () => ({ answer: 'Yes.' }),
  },
  'GET /api/v1/tool-calls/{id}': { may: 'read', of: 'call', isDoneByAgents: true },
  // Nothing of that name is kept: who may read the call is told so, as everyone else is.
  'GET /api/v1/tool-calls/{id}/outputs/{hash}': {
    may: 'read',
    of: 'call',
    isDoneByAgents: true,
    answer: 404,
    parts: { hash: 'a'.repeat(64) },
  },
  'POST /api/v1/tool-calls/{id}/approve': {
    may: 'decide',
    of: 'call',
    needsDecide: true,
    isDoneByAgents: true,
    body: digest,
  },
  'POST /api/v1/tool-calls/{id}/reject': {
    may: 'decide',
    of: 'call',
    needsDecide: true,
    isDoneByAgents: true,
    body: digest,
  },
  'POST /api/v1/tool-calls/{id}/settle': {
    may: 'decide',
    of: 'unknownCall',
    needsDecide: true,
    isDoneByAgents: true,
    body: () => ({ ran: false }),
  },

  'GET /api/v1/media': { for: 'users' },
  'GET /api/v1/media/{id}': { may: 'read', of: 'media' },
  'POST /api/v1/media/{id}/public-link': { may: 'manage-media', of: 'media', answer: 201 },
  'DELETE /api/v1/media/{id}/public-link': { may: 'manage-media', of: 'media' },
  'GET /api/v1/assets/{id}': { may: 'read', of: 'media', answer: 302 },
  // The link's own token opens it, and nobody's key.
  'GET /api/v1/public/media/{id}': { for: 'everyone', answer: 404 },

  // Keys are no sessions: only who has signed in has one.
  'GET /api/v1/sessions': { for: 'users' },
  'DELETE /api/v1/sessions': { for: 'users' },
  'GET /api/v1/sessions/current': { for: 'sessions', signedIn: 200 },
  'POST /api/v1/sign-out': { for: 'sessions', signedIn: 200 },
  'DELETE /api/v1/sessions/{id}': { may: 'manage-sessions', of: 'session' },
  'GET /api/v1/invitations': { for: 'admins' },
  'POST /api/v1/invitations': { for: 'admins', answer: 201, body: () => ({}) },
  'DELETE /api/v1/invitations/{id}': { may: 'manage-instance', of: 'invitation' },
  // What asks for a secret of its own, and takes none of these; there is no provider.
  'POST /api/v1/invitations/accept': {
    for: 'everyone',
    answer: 403,
    body: () => ({ token: 'inv_made-up', name: 'Someone' }),
  },
  'POST /api/v1/claim': {
    for: 'everyone',
    answer: 404,
    body: () => ({ secret: 'made up' }),
  },
  'GET /sign-in': { for: 'everyone', answer: 404, isWords: true },
  'GET /sign-in/callback': { for: 'everyone', answer: 404, isWords: true },

  // What says how to use the API is for everyone.
  'GET /api/v1/openapi.json': { for: 'everyone' },
  'GET /docs': { for: 'everyone' },
  'HEAD /docs': { for: 'everyone' },
  'GET /docs/{file}': { for: 'everyone', parts: { file: 'start.js' } },
  'HEAD /docs/{file}': { for: 'everyone', parts: { file: 'start.js' } },
}

/** What calls were shown with, by their ids. */
export const digests = new Map<string, string>()

function digest({ call }: Ids) {
  return { digest: digests.get(call) }
}
