import type { Resource } from '../tool/words.ts'

/**
 * What a function may reach, by name; a deploy turns each into the few permissions that it needs
 * (`lib/deploy/grants.ts`). Rows bring the long fields along that are kept in the bucket for
 * them; `bucket` itself is the bytes of media. Looking things up and changing them by hand are
 * words of their own: a tick reads agents and settings, and few functions can change one.
 */
export type Reach =
  | Resource
  /** What every operation has: its caller, agents, its own tool's settings, calls, results. */
  | 'floor'
  | 'principals'
  /** Which groups there are, and which a user is in. */
  | 'list-groups'
  | 'manage-groups'
  | 'manage-users'
  | 'settings'
  | 'calls'
  | 'decisions'
  /** Who is in a group and how many admins there are: whether anyone is left to decide. */
  | 'deciders'
  /** The functions of all operations. */
  | 'operations'
  /** Its own function, and the one that wakes tasks: what a long operation runs by, and ends with. */
  | 'itself'
  /** The keys of model providers. */
  | 'models'
  /** Which models there are for agents to name, with their sealed keys. */
  | 'llm-configurations'
  | 'manage-llm-configurations'
  | 'manage-keys'
  /** Where principals are told of what happens, with the sealed secrets of webhooks. */
  | 'manage-subscriptions'
  /** Tells them: posts to webhooks, sends e-mails. */
  | 'notify'
  /** Has what was just recorded told at once; the sweeper has the rest told. */
  | 'announce'
  /** The lists of what a principal's and what an agent's tasks are. */
  | 'list-tasks'
  /** Removes tasks with their calls and long fields. */
  | 'delete-tasks'
  /** A task and its calls to read, and the seats of those who watch. */
  | 'watch-tasks'
  /** The list of what is due. */
  | 'sweep'
  | 'read-audit'
  /** The provider that people sign in with, who its people are here, and their sessions. */
  | 'sign-in'
  /** A user's sessions, to list and to end. */
  | 'manage-sessions'
  | 'manage-invitations'
  /** Makes users, and takes them into groups. */
  | 'admit'
  /** The secret that makes the first admin, and that it was used. */
  | 'claim'
  /** Media to read, rows and bytes: all that whoever opens a public link needs. */
  | 'read-media'

/** One Lambda, as the local runner loads it and `sst.config.ts` deploys it. */
export type FunctionSpec = {
  name: string
  /** The module below `functions/`, without its extension; it exports `handler`. */
  module: string
  reach: readonly Reach[]
  memoryMb: number
  timeoutSeconds: number
  /** The tool whose operation it runs: its role reads this tool's settings and no other's. */
  tool?: string
  /**
   * Of a function that answers requests for all operations of a tool: the functions of the long
   * ones, which run what was asked for.
   */
  handsOnTo?: readonly string[]
  /** Sends its response as it comes, by a way of its own: the API's gateway can't. */
  streams?: true
  /** Files that it reads at run time, each as `package/path`: a deploy copies them beside it. */
  files?: readonly string[]
}

export type Route = { method: string; path: string; functionName: string }
export type Schedule = { name: string; rateMinutes: number; functionName: string }

export type RouteTable = { functions: FunctionSpec[]; routes: Route[]; schedules: Schedule[] }
