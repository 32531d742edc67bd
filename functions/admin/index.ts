import type { Endpoints } from '../../lib/http/endpoint.ts'

/** The resources of the API, each a function of its own: one lazy line each. */
export const resources = {
  principals: () => import('./principals.ts'),
  users: () => import('./users.ts'),
  groups: () => import('./groups.ts'),
  tools: () => import('./tools.ts'),
  settings: () => import('./settings.ts'),
  audit: () => import('./audit.ts'),
  agents: () => import('./agents.ts'),
  'agent-templates': () => import('./agent-templates.ts'),
  'llm-configurations': () => import('./llm-configurations.ts'),
  keys: () => import('./keys.ts'),
  subscriptions: () => import('./subscriptions.ts'),
  tasks: () => import('./tasks.ts'),
  'task-stream': () => import('./task-stream.ts'),
  approvals: () => import('./approvals.ts'),
  media: () => import('./media.ts'),
  'public-media': () => import('./public-media.ts'),
  'sign-in': () => import('./sign-in.ts'),
  sessions: () => import('./sessions.ts'),
  invitations: () => import('./invitations.ts'),
  claim: () => import('./claim.ts'),
  openapi: () => import('./openapi.ts'),
  docs: () => import('./docs.ts'),
} satisfies Record<string, () => Promise<unknown>>

export type ResourceName = keyof typeof resources

/** What a resource answers, loaded with all that answers it. */
export const endpointsOf = async (name: ResourceName): Promise<Endpoints> =>
  (await resources[name]()).endpoints

/** Every resource's endpoints together. */
export const allEndpoints = async (): Promise<Endpoints> => {
  const names = Object.keys(resources) as ResourceName[]
  return Object.assign({}, ...(await Promise.all(names.map(endpointsOf))))
}
