import { AppError } from '../core/errors.ts'
import type { FunctionSpec, Route, RouteTable } from '../http/route-table.ts'
import { wireName } from '../tool/alias.ts'
import { splitRoutes } from './router.ts'

/**
 * What one HTTP API has at most. AWS raises the first on request, and the second for nobody:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
 */
export const MAX_GATEWAY_ROUTES = 300
export const MAX_GATEWAY_INTEGRATIONS = 300

/** API Gateway answers for a function that takes longer than 30 seconds. */
export const HTTP_TIMEOUT_SECONDS = 29

/** Where whoever deploys says what the quota of routes was raised to. */
export const GATEWAY_ROUTES_VARIABLE = 'ESPALIER_GATEWAY_ROUTES'

/** How many routes the gateway takes: AWS's figure, or the one that it was raised to. */
export const gatewayQuota = (text = process.env[GATEWAY_ROUTES_VARIABLE] ?? ''): number => {
  if (text.trim() === '') return MAX_GATEWAY_ROUTES
  const quota = Number(text)
  if (Number.isSafeInteger(quota) && quota > 0) return quota
  throw new AppError(
    'NOT_CONFIGURED',
    `${GATEWAY_ROUTES_VARIABLE} must be a whole number of routes, such as ${MAX_GATEWAY_ROUTES}, not "${text}".`,
  )
}

/** What a table takes of the gateway: routes that stream pass it by, and each function has one integration. */
export const gatewayUse = (table: Pick<RouteTable, 'functions' | 'routes'>) => {
  const { gateway } = splitRoutes(table)
  return {
    routes: gateway.length,
    integrations: new Set(gateway.map(({ functionName }) => functionName)).size,
  }
}

/**
 * The table as the gateway takes it. While there are too many routes, the tool with the most of
 * them gets one for all its operations, and one more function that answers it. The operations keep
 * the functions of their own, which ticks go on invoking: nothing at run time knows of the
 * grouping, nor does whoever sends requests. Throws INVALID_DEFINITION where that isn't enough.
 */
export const groupRoutes = (table: RouteTable, quota = gatewayQuota()): RouteTable => {
  let grouped = table
  for (;;) {
    const { routes, integrations } = gatewayUse(grouped)
    if (routes <= quota && integrations <= MAX_GATEWAY_INTEGRATIONS) return grouped
    const tool = largestTool(grouped)
    if (tool === undefined) throw tooMany({ routes, integrations, quota })
    grouped = groupTool(grouped, tool)
  }
}

/** What a deploy says of the room that is left, in one or two sentences. */
export const gatewayReport = (table: RouteTable, quota = gatewayQuota()): string => {
  const { routes, integrations } = gatewayUse(table)
  const groups = table.functions.filter(isGroup).map(({ tool }) => tool)
  const left = `The gateway has ${routes} of ${quota} routes and ${integrations} of ${MAX_GATEWAY_INTEGRATIONS} integrations: ${quota - routes} and ${MAX_GATEWAY_INTEGRATIONS - integrations} are left.`
  if (groups.length === 0) return left
  return `${left} The operations of these tools have one route together: ${groups.join(', ')}.`
}

/** The tool whose operations have the most routes, of those that have more than one. */
const largestTool = ({ functions, routes }: RouteTable): string | undefined => {
  const toolOf = new Map(functions.map(({ name, tool }) => [name, tool]))
  const counts = new Map<string, number>()
  for (const { functionName } of routes) {
    const tool = toolOf.get(functionName)
    if (tool !== undefined) counts.set(tool, (counts.get(tool) ?? 0) + 1)
  }
  const [largest] = [...counts].toSorted(([, one], [, other]) => other - one)
  return largest && largest[1] > 1 ? largest[0] : undefined
}

const groupTool = (table: RouteTable, tool: string): RouteTable => {
  const operations = table.functions.filter(spec => spec.tool === tool)
  const names = new Set(operations.map(({ name }) => name))
  const group = groupOf(tool, operations)
  const route: Route = {
    method: 'POST',
    path: `/api/v1/tools/${tool}/operations/{operation}`,
    functionName: group.name,
  }
  const first = table.routes.findIndex(({ functionName }) => names.has(functionName))
  return {
    ...table,
    functions: [...table.functions, group],
    routes: table.routes
      .toSpliced(first, 0, route)
      .filter(({ functionName }) => !names.has(functionName)),
  }
}

/** The function that answers requests for any operation of a tool. */
const groupOf = (tool: string, operations: FunctionSpec[]): FunctionSpec => ({
  // No operation's name begins so: theirs begin with `tool-`, whatever they and their tool are called.
  name: `tools-${wireName(tool)}`,
  module: operations[0]?.module ?? '',
  reach: [...new Set(operations.flatMap(({ reach }) => reach))],
  memoryMb: Math.max(...operations.map(({ memoryMb }) => memoryMb)),
  timeoutSeconds: Math.max(
    ...operations.map(({ timeoutSeconds }) => Math.min(timeoutSeconds, HTTP_TIMEOUT_SECONDS)),
  ),
  tool,
  handsOnTo: operations.filter(({ reach }) => reach.includes('itself')).map(({ name }) => name),
})

const isGroup = ({ handsOnTo }: FunctionSpec): boolean => handsOnTo !== undefined

const tooMany = ({
  routes,
  integrations,
  quota,
}: {
  routes: number
  integrations: number
  quota: number
}): AppError =>
  new AppError(
    'INVALID_DEFINITION',
    `With one route for each tool, the API has ${routes} routes and ${integrations} integrations; the gateway takes ${quota} and ${MAX_GATEWAY_INTEGRATIONS}. ` +
      `Have AWS raise "Routes per API" (Service Quotas, Amazon API Gateway) and set ${GATEWAY_ROUTES_VARIABLE} to the new figure, or take tools out: integrations, one for each function that answers requests, are raised for nobody.`,
  )
