import type { IndexName } from '../data/definition.ts'
import type { FunctionSpec, Reach } from '../http/route-table.ts'
import { ALL_GROUPS } from '../principal/group.ts'
import { ALL_USERS } from '../principal/principal.ts'
import { DELETIONS } from '../task/remains.ts'

export type RowAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem'
export type ObjectAction = 'GetObject' | 'PutObject' | 'DeleteObject'

/** What may be done with rows under these leading keys, or with objects of these keys. */
export type Access<Action> = { actions: readonly Action[]; keys: readonly string[] }

/** What one word of a reach opens. In keys, `*` stands for any text, as IAM reads it. */
export type Grant = {
  rows?: readonly Access<RowAction>[]
  /** Lists in an index, by the index's own leading key. */
  lists?: readonly { index: IndexName; keys: readonly string[] }[]
  objects?: readonly Access<ObjectAction>[]
  /** What may be asked for of the bucket's keys: those that begin so. */
  objectLists?: readonly string[]
}

const READ = ['GetItem', 'BatchGetItem'] as const
const READ_AND_WRITE = [...READ, 'PutItem', 'UpdateItem'] as const
const OBJECTS = ['GetObject', 'PutObject'] as const
/** Long fields of tasks and calls, and long results. */
const TASK_OBJECTS = ['large/task_*', 'large/call_*', 'results/call_*'] as const

const PRINCIPALS = ['user_*', 'group_*']
/** Everyone who calls: their keys and sessions, who they are, and how often they have called. */
const CALLERS: readonly Access<RowAction>[] = [
  // An agent's key ends with its agent.
  { actions: READ, keys: ['key_*', 'session_*', 'seen#*', 'agent_*', ...PRINCIPALS] },
  { actions: ['UpdateItem'], keys: ['rate#*', 'seen#key_*'] },
]
const CALLS: Grant = {
  rows: [
    { actions: READ_AND_WRITE, keys: ['call_*'] },
    // What waits on a person is told of in the same transaction: who listens, and what was told
    // before. Where notices go, and what they are signed with, is in rows of other keys.
    { actions: READ, keys: ['listeners#*', 'delivery_*'] },
    { actions: ['PutItem'], keys: ['delivery_*'] },
  ],
  objects: [
    { actions: OBJECTS, keys: ['large/call_*'] },
    // What is too long for a model to read.
    { actions: ['PutObject'], keys: ['results/call_*'] },
  ],
}

const ownedBy = (owners: readonly string[], kind: string) => owners.map(owner => `${owner}#${kind}`)

/** Each word's grant: the leading keys are those that stand beside the rooms' access patterns. */
const GRANTS: Record<Exclude<Reach, 'floor'>, Grant> = {
  principals: { rows: [...CALLERS, { actions: ['UpdateItem'], keys: ['seen#session_*'] }] },
  agents: { rows: [{ actions: [...READ, 'Query'], keys: ['agent_*'] }] },
  'manage-agents': {
    rows: [
      // What is made for an agent is made on condition that it is there, and was never deleted.
      { actions: ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'], keys: ['agent_*'] },
      // An agent counts for its group and its LLM configuration, and takes its own with it.
      { actions: ['UpdateItem'], keys: ['group_*', 'llm_*'] },
      { actions: ['DeleteItem'], keys: ['llm_*', 'settings#*'] },
      { actions: ['Query', 'DeleteItem'], keys: ['notes#agent_*'] },
    ],
    lists: [
      { index: 'gsi1', keys: [...ownedBy(PRINCIPALS, 'agent'), ...ownedBy(['agent_*'], 'llm')] },
    ],
  },
  /** Models with their sealed keys, for what asks a model. */
  'llm-configurations': { rows: [{ actions: READ, keys: ['llm_*'] }] },
  'manage-llm-configurations': {
    rows: [
      { actions: ['PutItem', 'UpdateItem', 'DeleteItem'], keys: ['llm_*'] },
      // What an owner has is made and changed on condition that it is still there.
      { actions: ['ConditionCheckItem'], keys: ['agent_*', ...PRINCIPALS] },
    ],
    lists: [
      { index: 'gsi1', keys: ownedBy(['global', ...PRINCIPALS, 'agent_*'], 'llm') },
      { index: 'gsi2', keys: ownedBy(['llm_*'], 'agent') },
    ],
  },
  'manage-keys': {
    rows: [
      { actions: ['PutItem', 'UpdateItem'], keys: ['key_*'] },
      { actions: ['ConditionCheckItem'], keys: ['agent_*'] },
    ],
    lists: [
      { index: 'gsi1', keys: ownedBy(PRINCIPALS, 'key') },
      { index: 'gsi2', keys: ownedBy(['agent_*'], 'key') },
    ],
  },
  'list-groups': {
    lists: [{ index: 'gsi1', keys: [...ownedBy(['user_*'], 'group'), ALL_GROUPS] }],
  },
  'manage-groups': {
    rows: [
      { actions: ['Query', 'PutItem', 'UpdateItem', 'DeleteItem'], keys: ['group_*'] },
      // Whoever is taken in is someone, and a group's id was never another's.
      { actions: ['ConditionCheckItem'], keys: ['user_*', 'group_*'] },
      // What a group has goes with it.
      { actions: ['DeleteItem'], keys: ['llm_*', 'settings#*', 'subscription_*', 'listeners#*'] },
    ],
    lists: [
      {
        index: 'gsi1',
        keys: [...ownedBy(['group_*'], 'llm'), ...ownedBy(['group_*'], 'subscription')],
      },
    ],
  },
  'manage-users': {
    // The instance has the count of its admins.
    rows: [{ actions: ['PutItem', 'UpdateItem'], keys: ['user_*', 'instance'] }],
    lists: [{ index: 'gsi1', keys: [ALL_USERS] }],
  },
  settings: { rows: [{ actions: READ, keys: ['settings#*'] }] },
  'list-settings': { rows: [{ actions: READ, keys: ['settings#*'] }] },
  'manage-settings': {
    rows: [
      { actions: ['UpdateItem'], keys: ['settings#*'] },
      // On condition that whose they are is still there.
      { actions: ['ConditionCheckItem'], keys: ['agent_*', ...PRINCIPALS] },
    ],
  },
  audit: { rows: [{ actions: ['PutItem'], keys: ['audit#*'] }] },
  'read-audit': { rows: [{ actions: ['GetItem', 'Query'], keys: ['audit#*'] }] },
  calls: CALLS,
  decisions: {
    rows: [{ actions: ['PutItem'], keys: ['decision#call_*'] }],
    lists: [{ index: 'gsi2', keys: PRINCIPALS }],
  },
  tasks: {
    rows: [
      // What a task starts or calls is written on condition that the task goes on.
      { actions: [...READ_AND_WRITE, 'Query', 'ConditionCheckItem'], keys: ['task_*'] },
      { actions: READ_AND_WRITE, keys: ['ledger#task_*'] },
      // What is open under a task, who waits for its end, and the slots that an agent's may take.
      {
        actions: [...READ_AND_WRITE, 'Query', 'DeleteItem'],
        keys: ['open#task_*', 'waiters#task_*', 'slots#agent_*'],
      },
    ],
    objects: [{ actions: OBJECTS, keys: ['large/task_*'] }],
  },
  deciders: {
    rows: [
      { actions: READ, keys: ['instance'] },
      { actions: ['Query'], keys: ['group_*'] },
    ],
  },
  'list-tasks': {
    lists: [
      { index: 'gsi1', keys: ownedBy(PRINCIPALS, 'task') },
      { index: 'gsi2', keys: ownedBy(['agent_*'], 'task') },
    ],
  },
  'delete-tasks': {
    rows: [
      { actions: ['DeleteItem'], keys: ['task_*', 'call_*', 'ledger#task_*'] },
      { actions: ['Query', 'DeleteItem'], keys: ['decision#call_*', 'watchers#task_*'] },
    ],
    objects: [{ actions: ['DeleteObject'], keys: TASK_OBJECTS }],
    // Also what no row names any more.
    objectLists: TASK_OBJECTS,
  },
  'watch-tasks': {
    rows: [
      { actions: [...READ, 'Query'], keys: ['task_*'] },
      { actions: READ, keys: ['call_*'] },
      { actions: ['Query', 'UpdateItem', 'DeleteItem'], keys: ['watchers#*'] },
    ],
    objects: [{ actions: ['GetObject'], keys: ['large/task_*', 'large/call_*'] }],
  },
  sweep: {
    rows: [{ actions: ['UpdateItem'], keys: ['delivery_*'] }],
    lists: [{ index: 'gsi3', keys: ['open#*', 'unsent#*', DELETIONS] }],
  },
  'manage-subscriptions': {
    rows: [
      { actions: [...READ_AND_WRITE, 'DeleteItem'], keys: ['subscription_*'] },
      { actions: ['UpdateItem'], keys: ['listeners#*'] },
      // On condition that whose they are is still there.
      { actions: ['ConditionCheckItem'], keys: PRINCIPALS },
      // One that tells of nothing but itself.
      { actions: ['PutItem'], keys: ['delivery_*'] },
    ],
    lists: [
      {
        index: 'gsi1',
        keys: [...ownedBy(PRINCIPALS, 'subscription'), ...ownedBy(['subscription_*'], 'delivery')],
      },
    ],
  },
  notify: {
    rows: [
      { actions: [...READ, 'UpdateItem'], keys: ['subscription_*', 'delivery_*'] },
      // Who is gone listens no more.
      { actions: ['UpdateItem'], keys: ['listeners#*'] },
      // Whether a call still waits.
      { actions: READ, keys: ['call_*'] },
    ],
  },
  announce: {},
  media: {
    rows: [{ actions: READ_AND_WRITE, keys: ['media_*'] }],
    lists: [{ index: 'gsi1', keys: ownedBy(PRINCIPALS, 'media') }],
  },
  'sign-in': {
    rows: [
      { actions: READ, keys: ['identity#*', 'invitation_*', ...PRINCIPALS] },
      { actions: ['PutItem'], keys: ['identity#*', 'session_*', 'seen#session_*'] },
    ],
  },
  'manage-sessions': {
    rows: [{ actions: ['UpdateItem'], keys: ['session_*'] }],
    lists: [{ index: 'gsi1', keys: ownedBy(['user_*'], 'session') }],
  },
  'manage-invitations': {
    rows: [
      { actions: READ_AND_WRITE, keys: ['invitation_*'] },
      // The first key of whoever takes one.
      { actions: ['PutItem'], keys: ['key_*'] },
    ],
    lists: [{ index: 'gsi1', keys: ownedBy(['instance', 'group_*'], 'invitation') }],
  },
  admit: {
    rows: [
      // Whoever invited someone may still do so as the invitation is taken.
      { actions: [...READ_AND_WRITE, 'ConditionCheckItem'], keys: PRINCIPALS },
      // How many admins there are.
      { actions: ['UpdateItem'], keys: ['instance', 'invitation_*', 'rate#*'] },
    ],
  },
  claim: {
    rows: [
      { actions: ['PutItem'], keys: ['claim#*', 'key_*'] },
      { actions: READ, keys: ['key_*'] },
    ],
  },
  'read-media': {
    rows: [{ actions: READ, keys: ['media_*'] }],
    objects: [{ actions: ['GetObject'], keys: ['media/*'] }],
  },
  bucket: { objects: [{ actions: OBJECTS, keys: ['media/*'] }] },
  links: {},
  notes: {
    rows: [
      { actions: [...READ_AND_WRITE, 'Query'], keys: ['notes#agent_*'] },
      // On condition that the agent is there: whoever keeps notes can change no agent.
      { actions: ['ConditionCheckItem'], keys: ['agent_*'] },
    ],
  },
  /** Long results, of its own calls and of others'. */
  results: { objects: [{ actions: ['GetObject'], keys: ['results/call_*'] }] },
  workflow: {},
  operations: {},
  itself: {},
  models: {},
}

/** Whether a word is one that a reach may have. */
export const isReach = (word: string): word is Reach =>
  word === 'floor' || Object.hasOwn(GRANTS, word)

/** All that a function's reach opens. */
export const grantsOf = ({ reach, tool }: Pick<FunctionSpec, 'reach' | 'tool'>): Grant[] =>
  reach.flatMap(word => (word === 'floor' ? floorOf(tool) : GRANTS[word]))

/** What an operation has whatever it does: the gate's reads, its own call, its long result. */
const floorOf = (tool: string | undefined): Grant[] => [
  {
    rows: [
      ...CALLERS,
      {
        actions: READ,
        keys: ['agent_*', 'decision#call_*', ...(tool === undefined ? [] : [`settings#${tool}`])],
      },
    ],
  },
  CALLS,
]
