/** What a repeat of an operation does: nothing, the same effect again, or a second effect. */
export const EFFECTS = ['read', 'idempotent', 'once'] as const

/**
 * Who decides about a call that asks for approval: the least role of a group that does (of a user's
 * own agent it is the user), or no one but those who keep the instance; these always may.
 */
export const DECIDERS = ['member', 'admin', 'owner', 'instance-admin'] as const
export type Decider = (typeof DECIDERS)[number]

/** What a setting's value is and how it is entered. */
export const SETTING_TYPES = [
  'text',
  'textarea',
  'number',
  'password',
  'select',
  'multi-select',
  'toggle',
] as const

/** What tools are about, for those who look through them. */
export const CATEGORIES = [
  'general',
  'research',
  'communication',
  'productivity',
  'data',
  'system',
] as const
export type Category = (typeof CATEGORIES)[number]

/** What a function may touch beyond the floor that every operation has. */
export const RESOURCES = [
  'agents',
  'media',
  'bucket',
  'links',
  'results',
  'tasks',
  'workflow',
  // What agents noted for themselves.
  'notes',
  // Makes and changes agents with their tools and settings, and logs it.
  'manage-agents',
  'list-settings',
  'manage-settings',
  'audit',
] as const
export type Resource = (typeof RESOURCES)[number]
