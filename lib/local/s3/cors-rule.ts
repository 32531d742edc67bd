import * as z from 'zod'

/** Who may send what from a browser; `*` stands for anything, once in an origin or header. */
export const CorsRule = z.object({
  id: z.string().optional(),
  allowedOrigins: z.array(z.string()).min(1),
  allowedMethods: z.array(z.enum(['GET', 'PUT', 'POST', 'DELETE', 'HEAD'])).min(1),
  allowedHeaders: z.array(z.string()),
  exposeHeaders: z.array(z.string()),
  maxAgeSeconds: z.int().optional(),
})
export type CorsRule = z.infer<typeof CorsRule>

/** What a browser says about a request before or while it sends it. */
export type CorsRequest = { origin: string; method: string; headers: string[] }

/** The first rule that lets the request be sent. */
export const matchingRule = (rules: CorsRule[], request: CorsRequest): CorsRule | undefined =>
  rules.find(
    rule =>
      rule.allowedOrigins.some(pattern => matches(pattern, request.origin)) &&
      rule.allowedMethods.some(method => method === request.method) &&
      request.headers.every(header =>
        rule.allowedHeaders.some(pattern => matches(pattern.toLowerCase(), header)),
      ),
  )

/** The headers that tell a browser so. */
export const corsHeaders = (rule: CorsRule, origin: string): Record<string, string> => {
  const headers: Record<string, string> = {
    'access-control-allow-methods': rule.allowedMethods.join(', '),
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  }
  if (rule.exposeHeaders.length > 0) {
    headers['access-control-expose-headers'] = rule.exposeHeaders.join(', ')
  }
  if (rule.maxAgeSeconds !== undefined) {
    headers['access-control-max-age'] = String(rule.maxAgeSeconds)
  }
  if (rule.allowedOrigins.includes('*')) return { ...headers, 'access-control-allow-origin': '*' }
  return {
    ...headers,
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
  }
}

const matches = (pattern: string, text: string): boolean => {
  const [start = '', end] = pattern.split('*')
  if (end === undefined) return pattern === text
  return text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end)
}
