/** What each line of the API's access log holds: the route's pattern, and never a URL. */
export const ACCESS_LOG_FORMAT = JSON.stringify({
  requestId: '$context.requestId',
  requestTime: '$context.requestTime',
  routeKey: '$context.routeKey',
  status: '$context.status',
  responseLatency: '$context.responseLatency',
  integrationLatency: '$context.integration.latency',
  integrationStatus: '$context.integration.integrationStatus',
  integrationError: '$context.integration.error',
  ip: '$context.identity.sourceIp',
})
