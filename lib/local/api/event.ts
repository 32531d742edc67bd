import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { type ApiRoute, decode } from './route.ts'

type Options = {
  request: IncomingMessage
  route: ApiRoute
  parameters: Record<string, string>
  body: Buffer
  requestId: string
  now: Date
}

/**
 * The event that an HTTP API gives to a Lambda function, payload format 2.0:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export const eventOf = ({ request, route, parameters, body, requestId, now }: Options) => {
  const { method = 'GET', httpVersion, socket } = request
  const { rawPath, rawQueryString } = splitTarget(request.url ?? '/')
  const path = deliveredPath(rawPath)
  const sourceIp = socket.remoteAddress ?? ''
  const received = combined(request.rawHeaders)
  const { cookie, ...headers } = received
  const isBase64Encoded = body.length > 0 && !isText(headers, body)
  const host = request.headers.host ?? ''
  const routeKey = `${route.method} ${route.path}`

  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString,
    ...(cookie !== undefined && { cookies: cookie.split(/;\s*/).filter(Boolean) }),
    headers: {
      ...headers,
      'x-forwarded-for': [headers['x-forwarded-for'], sourceIp].filter(Boolean).join(', '),
      'x-forwarded-port': String(socket.localPort),
      'x-forwarded-proto': 'http',
    },
    ...(rawQueryString !== '' && { queryStringParameters: queryOf(rawQueryString) }),
    ...(Object.keys(parameters).length > 0 && { pathParameters: parameters }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName: host,
      domainPrefix: host.split(/[.:]/)[0],
      http: {
        method,
        path,
        protocol: `HTTP/${httpVersion}`,
        sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey,
      stage: '$default',
      time: commonLogTime(now),
      timeEpoch: now.getTime(),
    },
    ...(body.length > 0 && { body: body.toString(isBase64Encoded ? 'base64' : 'utf8') }),
    isBase64Encoded,
  }
}

/** A request's target at its first question mark; the query stays as it was sent. */
export const splitTarget = (target: string): { rawPath: string; rawQueryString: string } => {
  const mark = target.indexOf('?')
  if (mark === -1) return { rawPath: target, rawQueryString: '' }
  return { rawPath: target.slice(0, mark), rawQueryString: target.slice(mark + 1) }
}

/**
 * The path as an HTTP API delivers it in `rawPath`, which is percent-decoded whatever the name
 * says (honojs/hono#2156), and cut at a question mark that this brings to light
 * (middleapi/standard-server#93). So a path cannot carry `/`, `?` or `#` inside of a segment.
 */
const deliveredPath = (rawPath: string): string => decode(rawPath).split('?')[0] ?? ''

/** Headers of this connection only, which a gateway does not pass on. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding']

/** Header values by lower-cased name; those of one name are joined by a comma, cookies by theirs. */
const combined = (rawHeaders: string[]): Record<string, string | undefined> => {
  const values = new Map<string, string[]>()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    const value = rawHeaders[index + 1] ?? ''
    if (!HOP_BY_HOP.includes(name)) values.set(name, [...(values.get(name) ?? []), value])
  }
  const joined = [...values].map(([name, list]) => [name, list.join(name === 'cookie' ? ';' : ',')])
  return Object.fromEntries(joined)
}

const queryOf = (rawQueryString: string): Record<string, string> => {
  const search = new URLSearchParams(rawQueryString)
  return Object.fromEntries([...search.keys()].map(key => [key, search.getAll(key).join(',')]))
}

const TEXT = /^(text\/.+|application\/(json|javascript|xml)|.+\+(json|xml))\s*(;|$)/i

/** Whether a body is delivered as text; every other arrives in base64, forms too. */
const isText = (headers: Record<string, string | undefined>, body: Buffer): boolean =>
  TEXT.test(headers['content-type'] ?? '') && !headers['content-encoding'] && isUtf8(body)

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** As in `12/Mar/2020:19:03:58 +0000`. */
const commonLogTime = (time: Date): string => {
  const [date = '', clock = ''] = time.toISOString().split(/[T.]/)
  const [year, month, day] = date.split('-')
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${clock} +0000`
}
