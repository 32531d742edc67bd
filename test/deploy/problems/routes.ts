import * as z from 'zod'
import { gatewayUse } from '../../../lib/deploy/group-routes.ts'
import { functionName } from '../../../lib/deploy/names.ts'
import { MAX_EDGE_CODE_BYTES, splitRoutes, streamPath } from '../../../lib/deploy/router.ts'
import type { RouteTable } from '../../../lib/http/route-table.ts'
import { all, lambdas, one } from '../synth/find.ts'
import type { Synthesis } from '../synth/synthesis.ts'
import { compareLists, differs } from './differs.ts'

const RouteInputs = z.object({ routeKey: z.string(), target: z.string() })

/** What is wrong with the routes: the gateway has those of the table, and the Router those that stream. */
export const routeProblems = (
  synthesis: Synthesis,
  { table, prefix }: { table: RouteTable; prefix: string },
): string[] => {
  const { gateway, streams } = splitRoutes(table)
  const expected = gateway.map(
    ({ method, path, functionName: name }) =>
      `${method} ${path} → ${functionName(prefix, { name })}`,
  )
  return [
    ...compareLists('The route', gatewayRoutes(synthesis), expected),
    ...differs(
      'The number of integrations, of which a gateway takes 300',
      all(synthesis, 'aws:apigatewayv2/integration:Integration').length,
      gatewayUse(table).integrations,
    ),
    ...streams.flatMap(({ functionName: name }) => streamProblems(synthesis, { name, prefix })),
    ...frontProblems(synthesis),
    ...edgeProblems(synthesis),
  ]
}

/** Each route of the gateway with the name of the function that it leads to. */
const gatewayRoutes = (synthesis: Synthesis): string[] => {
  const named = new Map(lambdas(synthesis).map(({ arn, name }) => [arn, name]))
  const integrations = new Map(
    all(synthesis, 'aws:apigatewayv2/integration:Integration').map(({ id, inputs }) => [
      `integrations/${id}`,
      named.get(String(inputs.integrationUri)) ?? `unknown ${inputs.integrationUri}`,
    ]),
  )
  return all(synthesis, 'aws:apigatewayv2/route:Route').map(({ inputs }) => {
    const { routeKey, target } = RouteInputs.parse(inputs)
    return `${routeKey} → ${integrations.get(target) ?? 'nothing'}`
  })
}

/** Where the Router leads to what streams: by the beginning of a path, to the function's own URL. */
const streamProblems = (
  synthesis: Synthesis,
  { name, prefix }: { name: string; prefix: string },
): string[] => {
  const whole = functionName(prefix, { name })
  const url = all(synthesis, 'aws:lambda/functionUrl:FunctionUrl').find(
    ({ inputs }) => inputs.functionName === whole,
  )
  if (!url) return [`The function ${whole}, which streams, has no URL`]
  const leads = routerLeads(synthesis)
  const host = new URL(String(url.state.functionUrl)).host
  return [
    ...differs(`The way that ${whole} sends`, url.inputs.invokeMode, 'RESPONSE_STREAM'),
    ...differs(
      `Where the Router leads ${streamPath({ name })}`,
      leads.get(streamPath({ name })),
      host,
    ),
  ]
}

/** All else goes to the gateway. */
const frontProblems = (synthesis: Synthesis): string[] => {
  const { state } = one(synthesis, 'aws:apigatewayv2/api:Api')
  const { host } = new URL(String(state.apiEndpoint))
  return differs('Where the Router leads all else', routerLeads(synthesis).get('/'), host)
}

/** What the Router runs with each request: SST's code and ours. */
const edgeProblems = (synthesis: Synthesis): string[] =>
  all(synthesis, 'aws:cloudfront/function:Function').flatMap(({ name, inputs }) => {
    const bytes = Buffer.byteLength(String(inputs.code))
    if (bytes <= MAX_EDGE_CODE_BYTES) return []
    return [`The code of ${name} has ${bytes} bytes; CloudFront takes ${MAX_EDGE_CODE_BYTES}`]
  })

/** The Router's own table: beginnings of paths, and the hosts that they lead to. */
const routerLeads = (synthesis: Synthesis): Map<string, string> => {
  const dynamic = all(synthesis, 'pulumi-nodejs:dynamic:Resource')
  const hosts = new Map(
    dynamic
      .filter(({ name }) => name.endsWith('KvKeys'))
      .map(({ inputs }) => {
        const entries = z.object({ metadata: z.string() }).parse(inputs.entries)
        return [
          String(inputs.namespace),
          z.object({ host: z.string() }).parse(JSON.parse(entries.metadata)).host,
        ]
      }),
  )
  return new Map(
    dynamic
      .filter(({ name }) => name.endsWith('KvRoutesUpdate'))
      .map(({ inputs }) => {
        const [, namespace = '', , path = ''] = String(inputs.entry).split(',')
        return [path, hosts.get(namespace) ?? 'nothing']
      }),
  )
}
