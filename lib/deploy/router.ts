import { createHmac } from 'node:crypto'
import type { FunctionSpec, Route, RouteTable } from '../http/route-table.ts'
import { ROUTER_HEADER, VIEWER_HEADER } from '../http/stranger.ts'
import { CARRIED_AUTHORIZATION } from '../http/streaming-handler.ts'

// One Router (CloudFront) is what people reach: the API's gateway behind it, and beside that the
// functions that stream, which the gateway can't serve.

/** CloudFront's own policy "CachingDisabled": nothing is kept, and no two requests share an answer. */
export const NO_CACHE_POLICY = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad'

/**
 * The errors that CloudFront would keep for 10 seconds and give to others, all that it lets one name:
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html
 */
export const UNCACHED_ERRORS = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]

/** What the gateway may take (30 seconds), and more. */
export const API_READ_TIMEOUT_SECONDS = 35
/** How long a stream may be silent: twice what it is. */
export const STREAM_READ_TIMEOUT_SECONDS = 30

/**
 * What the code may have that the Router runs with each request, SST's part and ours:
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html
 */
export const MAX_EDGE_CODE_BYTES = 10_240

/** Where the Router finds a function that streams: it goes by the beginnings of paths. */
export const streamPath = ({ name }: Pick<FunctionSpec, 'name'>): string => `/-streams/${name}`

/** The routes whose functions stream; all others are the gateway's. */
export const splitRoutes = ({
  functions,
  routes,
}: Pick<RouteTable, 'functions' | 'routes'>): { gateway: Route[]; streams: Route[] } => {
  const streaming = new Set(functions.filter(({ streams }) => streams).map(({ name }) => name))
  return {
    gateway: routes.filter(({ functionName }) => !streaming.has(functionName)),
    streams: routes.filter(({ functionName }) => streaming.has(functionName)),
  }
}

/**
 * What proves to the functions behind the gateway that the Router has sent a request: the gateway
 * has an address of its own, at which anyone may claim anything. It changes with the keys that it
 * comes from, here and there in one deploy.
 */
export const routerSecretOf = (linkKeys: string): string =>
  createHmac('sha256', linkKeys).update('router').digest('hex')

/**
 * The lines that the Router runs with each request (the CloudFront function's own dialect: ES 5.1
 * and a little more). They say who asks, since behind the Router all requests come from it; and they
 * lead what is to be streamed to its function. The Router signs what it sends there, in the header
 * `Authorization`, so that the caller's own one goes by another name.
 */
export const viewerRequestCode = (streams: Route[], secret: string): string =>
  [
    '{',
    'const sent = event.request.headers;',
    `sent[${quoted(ROUTER_HEADER)}] = { value: ${quoted(secret)} };`,
    `sent[${quoted(VIEWER_HEADER)}] = { value: event.viewer.ip };`,
    `delete sent[${quoted(CARRIED_AUTHORIZATION)}];`,
    ...streams.map(
      ({ method, path, functionName }) =>
        `if (event.request.method === ${quoted(method)} && ${patternOf(path)}.test(event.request.uri)) {` +
        ` if (sent.authorization) sent[${quoted(CARRIED_AUTHORIZATION)}] = sent.authorization;` +
        ' delete sent.authorization;' +
        ` event.request.uri = ${quoted(streamPath({ name: functionName }))} + event.request.uri; }`,
    ),
    '}',
  ].join('\n')

const quoted = (text: string): string => JSON.stringify(text)

/** A route's path as a regular expression's literal. */
const patternOf = (path: string): string =>
  `/^${path
    .split('/')
    .map(part => (part.startsWith('{') ? '[^\\/]+' : part.replaceAll('.', '\\.')))
    .join('\\/')}$/`
