import type { FunctionSpec, Reach, Route, RouteTable } from '../lib/http/route-table.ts'
import { operationFunction } from '../lib/tool/alias.ts'
import { allTools } from '../lib/tool/registry.ts'
import { TICK_TIMEOUT_SECONDS } from '../lib/workflow/definition.ts'
import { tools } from './tools/index.ts'

/** API Gateway answers for a function that takes longer than 30 seconds. */
const HTTP_TIMEOUT_SECONDS = 29
/** What an operation's function has beyond the operation's own time: the gate, and the receipt. */
const OPERATION_MARGIN_SECONDS = 4
const ADMIN_MEMORY_MB = 512
const TICK_MEMORY_MB = 1_024
const SWEEP_MINUTES = 1

type Admin = { name: string; reach: readonly Reach[]; routes: readonly string[] }

const ADMIN: readonly Admin[] = [
  { name: 'principals', reach: ['principals'], routes: ['GET /api/v1/principals/me'] },
  { name: 'tools', reach: ['principals'], routes: ['GET /api/v1/tools'] },
  {
    name: 'settings',
    reach: ['principals', 'agents', 'settings', 'manage-settings'],
    routes: [
      'GET /api/v1/tools/{tool}/settings',
      'PUT /api/v1/tools/{tool}/settings',
      'GET /api/v1/principals/{id}/tools/{tool}/settings',
      'PUT /api/v1/principals/{id}/tools/{tool}/settings',
      'GET /api/v1/agents/{id}/tools/{tool}/settings',
      'PUT /api/v1/agents/{id}/tools/{tool}/settings',
    ],
  },
  {
    name: 'agents',
    reach: ['principals', 'agents', 'manage-agents', 'manage-keys', 'list-settings'],
    routes: [
      'GET /api/v1/agents',
      'POST /api/v1/agents',
      'GET /api/v1/agents/{id}',
      'POST /api/v1/agents/{id}/tools/{tool}/enable',
      'DELETE /api/v1/agents/{id}/tools/{tool}/enable',
      'PATCH /api/v1/agents/{id}/tools/{tool}/operations/{operation}',
      'POST /api/v1/agents/{id}/keys',
    ],
  },
  {
    name: 'keys',
    reach: ['principals', 'manage-keys'],
    routes: ['DELETE /api/v1/keys/{id}'],
  },
  {
    name: 'tasks',
    reach: ['principals', 'agents', 'tasks', 'list-tasks', 'calls', 'workflow'],
    routes: [
      'GET /api/v1/tasks',
      'POST /api/v1/tasks',
      'GET /api/v1/tasks/{id}',
      'GET /api/v1/tasks/{id}/history',
      'POST /api/v1/tasks/{id}/cancel',
    ],
  },
  {
    name: 'approvals',
    reach: [
      'principals',
      'agents',
      'settings',
      'tasks',
      'calls',
      'decisions',
      'workflow',
      'operations',
    ],
    routes: [
      'GET /api/v1/approvals',
      'GET /api/v1/tool-calls/{id}',
      'POST /api/v1/tool-calls/{id}/approve',
      'POST /api/v1/tool-calls/{id}/reject',
      'POST /api/v1/tool-calls/{id}/settle',
    ],
  },
  {
    name: 'media',
    reach: ['principals', 'media', 'bucket', 'links'],
    routes: [
      'GET /api/v1/media',
      'GET /api/v1/media/{id}',
      'POST /api/v1/media/{id}/public-link',
      'DELETE /api/v1/media/{id}/public-link',
      'GET /api/v1/assets/{id}',
    ],
  },
  {
    name: 'public-media',
    reach: ['read-media', 'links'],
    routes: ['GET /api/v1/public/media/{id}'],
  },
]

const WORKFLOW: readonly FunctionSpec[] = [
  {
    name: 'tick',
    module: 'workflow/tick',
    reach: ['agents', 'settings', 'tasks', 'calls', 'workflow', 'operations', 'models'],
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
    name: 'sweep',
    module: 'workflow/sweep',
    reach: ['tasks', 'calls', 'workflow', 'operations', 'sweep'],
    memoryMb: ADMIN_MEMORY_MB,
    timeoutSeconds: TICK_TIMEOUT_SECONDS,
  },
]

/**
 * The one table of what there is to run: every function, which of them answers which route, and
 * which run by the clock. The local runner and `sst.config.ts` both read it.
 */
export const routeTable = async (): Promise<RouteTable> => {
  const operations = (await allTools(tools)).flatMap(tool =>
    Object.values(tool.operations).map(operation => ({
      spec: {
        name: operationFunction(tool.name, operation.name),
        module: `tools/${tool.name.replaceAll('_', '-')}`,
        reach: ['floor', ...operation.touches] as const,
        memoryMb: operation.memoryMb,
        timeoutSeconds: operation.timeoutSeconds + OPERATION_MARGIN_SECONDS,
        tool: tool.name,
      },
      path: `/api/v1/tools/${tool.name}/operations/${operation.name}`,
    })),
  )
  const admin = ADMIN.map(({ name, reach }) => ({
    name: `admin-${name}`,
    module: `admin/${name}`,
    reach,
    memoryMb: ADMIN_MEMORY_MB,
    timeoutSeconds: HTTP_TIMEOUT_SECONDS,
  }))
  return {
    functions: [...operations.map(({ spec }) => spec), ...admin, ...WORKFLOW],
    routes: [
      ...operations.map(({ spec, path }) => ({ method: 'POST', path, functionName: spec.name })),
      ...ADMIN.flatMap(({ name, routes }) => routes.map(route => routeOf(route, `admin-${name}`))),
    ],
    schedules: [{ name: 'sweep', rateMinutes: SWEEP_MINUTES, functionName: 'sweep' }],
  }
}

const routeOf = (route: string, functionName: string): Route => {
  const [method = '', path = ''] = route.split(' ')
  return { method, path, functionName }
}
