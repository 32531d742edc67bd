import { WAKE_FUNCTION } from '../lib/call/invoke.ts'
import { groupRoutes, HTTP_TIMEOUT_SECONDS } from '../lib/deploy/group-routes.ts'
import { REFERENCE_FILES } from '../lib/http/reference-page.ts'
import type { FunctionSpec, Reach, Route, RouteTable } from '../lib/http/route-table.ts'
import { NOTIFY_FUNCTION } from '../lib/notification/announce.ts'
import { ATTEMPT_TIMEOUT_MS } from '../lib/notification/limits.ts'
import { SEAT_SECONDS } from '../lib/task/watcher.ts'
import { operationFunction } from '../lib/tool/alias.ts'
import { isLong } from '../lib/tool/options.ts'
import { allTools } from '../lib/tool/registry.ts'
import { TICK_TIMEOUT_SECONDS } from '../lib/workflow/definition.ts'
import { endpointsOf, type ResourceName } from './admin/index.ts'
import { tools } from './tools/index.ts'

/** What an operation's function has beyond the operation's own time: the gate, and the receipt. */
const OPERATION_MARGIN_SECONDS = 4
const ADMIN_MEMORY_MB = 512
const STREAM_MEMORY_MB = 256
const TICK_MEMORY_MB = 1_024
const SWEEP_MINUTES = 1
/** An attempt's longest time, with what is read and written around it. */
const NOTIFY_TIMEOUT_SECONDS = ATTEMPT_TIMEOUT_MS / 1_000 + 15

/** What each resource's function may touch; its routes stand beside what answers them. */
const ADMIN: Record<ResourceName, readonly Reach[]> = {
  principals: ['principals', 'list-groups'],
  users: ['principals', 'manage-users', 'audit'],
  groups: ['principals', 'list-groups', 'manage-groups', 'audit'],
  tools: ['principals'],
  settings: ['principals', 'agents', 'settings', 'manage-settings', 'audit'],
  audit: ['principals', 'read-audit'],
  agents: [
    'principals',
    'agents',
    'manage-agents',
    'manage-keys',
    'deciders',
    'llm-configurations',
    'list-settings',
    'tasks',
    'list-tasks',
    'calls',
    'workflow',
    'announce',
    'audit',
  ],
  'agent-templates': [
    'principals',
    'agents',
    'manage-agents',
    'llm-configurations',
    'list-settings',
    'manage-settings',
    'audit',
  ],
  'llm-configurations': [
    'principals',
    'agents',
    'llm-configurations',
    'manage-llm-configurations',
    'models',
    'audit',
  ],
  keys: ['principals', 'agents', 'manage-keys', 'audit'],
  subscriptions: ['principals', 'manage-subscriptions', 'announce', 'audit'],
  tasks: [
    'principals',
    'agents',
    'tasks',
    'list-tasks',
    'delete-tasks',
    'calls',
    'workflow',
    'announce',
    'audit',
  ],
  'task-stream': ['principals', 'watch-tasks'],
  approvals: [
    'principals',
    'agents',
    'settings',
    'tasks',
    'calls',
    'deciders',
    'decisions',
    'workflow',
    'operations',
    'results',
  ],
  media: ['principals', 'media', 'bucket', 'links'],
  'public-media': ['read-media', 'links'],
  'sign-in': ['sign-in', 'admit', 'audit'],
  sessions: ['principals', 'manage-sessions', 'audit'],
  invitations: ['principals', 'manage-invitations', 'admit', 'audit'],
  claim: ['claim', 'admit', 'audit'],
  openapi: [],
  docs: [],
}

/** Functions that stream wait more than they compute, and run as long as somebody watches. */
const STREAMS: Partial<Record<ResourceName, Partial<FunctionSpec>>> = {
  'task-stream': { streams: true, memoryMb: STREAM_MEMORY_MB, timeoutSeconds: SEAT_SECONDS },
}

/** Files of packages that a function reads as they are: no bundle holds them. */
const FILES: Partial<Record<ResourceName, readonly string[]>> = { docs: REFERENCE_FILES }

const WORKFLOW: readonly FunctionSpec[] = [
  {
    name: 'tick',
    module: 'workflow/tick',
    reach: [
      'agents',
      'settings',
      'tasks',
      'calls',
      'workflow',
      'operations',
      'models',
      'llm-configurations',
      'read-media',
      'announce',
    ],
    memoryMb: TICK_MEMORY_MB,
    timeoutSeconds: TICK_TIMEOUT_SECONDS,
  },
  {
    name: 'park',
    module: 'workflow/park',
    reach: ['tasks', 'workflow'],
    memoryMb: ADMIN_MEMORY_MB,
    timeoutSeconds: HTTP_TIMEOUT_SECONDS,
  },
  {
    name: WAKE_FUNCTION,
    module: 'workflow/wake',
    reach: ['tasks', 'calls', 'workflow'],
    memoryMb: ADMIN_MEMORY_MB,
    timeoutSeconds: HTTP_TIMEOUT_SECONDS,
  },
  {
    name: 'sweep',
    module: 'workflow/sweep',
    reach: ['tasks', 'delete-tasks', 'calls', 'workflow', 'operations', 'sweep', 'announce'],
    memoryMb: ADMIN_MEMORY_MB,
    timeoutSeconds: TICK_TIMEOUT_SECONDS,
  },
  {
    name: NOTIFY_FUNCTION,
    module: 'workflow/notify',
    reach: ['notify', 'audit'],
    memoryMb: ADMIN_MEMORY_MB,
    timeoutSeconds: NOTIFY_TIMEOUT_SECONDS,
  },
]

/**
 * The one table of what there is to run: every function, which of them answers which route, and
 * which run by the clock. The local runner and `sst.config.ts` both read it. Where tools have more
 * operations than a gateway has routes, those of the largest ones share a route.
 */
export const routeTable = async (): Promise<RouteTable> => {
  const operations = (await allTools(tools)).flatMap(tool =>
    Object.values(tool.operations).map(operation => ({
      spec: {
        name: operationFunction(tool.name, operation.name),
        module: `tools/${tool.name.replaceAll('_', '-')}`,
        reach: [
          'floor',
          ...operation.touches,
          // What an operation brings to its end is told of at once, as what a person does.
          ...(operation.touches.includes('workflow') ? (['announce'] as const) : []),
          ...(isLong(operation) ? (['itself'] as const) : []),
        ] as const,
        memoryMb: operation.memoryMb,
        timeoutSeconds: Math.ceil(operation.timeoutSeconds) + OPERATION_MARGIN_SECONDS,
        tool: tool.name,
      },
      path: `/api/v1/tools/${tool.name}/operations/${operation.name}`,
    })),
  )
  const admin = await Promise.all(Object.keys(ADMIN).map(name => adminOf(name as ResourceName)))
  return groupRoutes({
    functions: [
      ...operations.map(({ spec }) => spec),
      ...admin.map(({ spec }) => spec),
      ...WORKFLOW,
    ],
    routes: [
      ...operations.map(({ spec, path }) => ({ method: 'POST', path, functionName: spec.name })),
      ...admin.flatMap(({ routes }) => routes),
    ],
    schedules: [{ name: 'sweep', rateMinutes: SWEEP_MINUTES, functionName: 'sweep' }],
  })
}

/** A resource's function, and the routes that it declares. */
const adminOf = async (
  resource: ResourceName,
): Promise<{ spec: FunctionSpec; routes: Route[] }> => {
  const name = `admin-${resource}`
  const files = FILES[resource]
  const endpoints = Object.values(await endpointsOf(resource))
  return {
    spec: {
      name,
      module: `admin/${resource}`,
      reach: ADMIN[resource],
      memoryMb: ADMIN_MEMORY_MB,
      timeoutSeconds: HTTP_TIMEOUT_SECONDS,
      ...(files ? { files } : {}),
      ...STREAMS[resource],
    },
    routes: endpoints.flatMap(({ method, path, hasHead }) =>
      [method, ...(hasHead ? ['HEAD'] : [])].map(verb => ({
        method: verb,
        path,
        functionName: name,
      })),
    ),
  }
}
