import type { Route } from '../../lib/http/route-table.ts'
import { matcherOf } from '../../lib/local/api/route.ts'

export const ADMIN_KEY = 'an-admin-key-for-simulations'

export type Request = {
  method: string
  path: string
  body?: unknown
  headers?: Record<string, string>
}
export type Answer = { status: number; data: unknown; code?: string }

const HOST = 'simulation.local'

/** API Gateway: which function answers a request, and with which event. */
export const createGateway = (routes: Route[]) => {
  const match = matcherOf(routes)

  return ({ method, path, body, headers = {} }: Request, now: number) => {
    const [rawPath = '', rawQueryString = ''] = path.split('?')
    const found = match(method, rawPath)
    if (found.kind !== 'route') return undefined
    const { route, parameters } = found
    const query = [...new URLSearchParams(rawQueryString)]
    const routeKey = `${route.method} ${route.path}`
    return {
      functionName: route.functionName,
      event: {
        version: '2.0',
        routeKey,
        rawPath,
        rawQueryString,
        headers: {
          host: HOST,
          authorization: `Bearer ${ADMIN_KEY}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(query.length > 0 && { queryStringParameters: Object.fromEntries(query) }),
        ...(Object.keys(parameters).length > 0 && { pathParameters: parameters }),
        requestContext: {
          accountId: '000000000000',
          apiId: 'simulation',
          domainName: HOST,
          domainPrefix: 'simulation',
          http: {
            method,
            path: rawPath,
            protocol: 'HTTP/1.1',
            sourceIp: '10.0.0.1',
            userAgent: '',
          },
          requestId: 'request',
          routeKey,
          stage: '$default',
          time: new Date(now).toUTCString(),
          timeEpoch: now,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        isBase64Encoded: false,
      },
    }
  }
}

/** What a function answered, as its caller sees it; one that died is a bad gateway. */
export const answerOf = (payload: unknown): Answer => {
  const { statusCode = 502, body } = (payload ?? {}) as { statusCode?: number; body?: string }
  const parsed = parse(body)
  return {
    status: statusCode,
    data: parsed.data,
    ...(parsed.error ? { code: parsed.error.code } : {}),
  }
}

const parse = (body: string | undefined): { data?: unknown; error?: { code: string } } => {
  try {
    return JSON.parse(body ?? '{}')
  } catch {
    return {}
  }
}
