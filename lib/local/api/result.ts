import * as z from 'zod'

/** What a function returns for an HTTP request, in payload format 2.0. */
const Result = z.looseObject({
  statusCode: z.coerce.number().int().min(200).max(599),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  cookies: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
})

export type ApiResponse = {
  status: number
  headers: Record<string, string | string[]>
  body: Buffer
}

/** Lengths and the connection are the server's own affair. */
const SERVERS_OWN = ['connection', 'content-length', 'keep-alive', 'transfer-encoding']

/** The HTTP response that a function's result means, as an HTTP API reads it. */
export const responseOf = (result: { payload: unknown; functionError?: string }): ApiResponse => {
  if (result.functionError !== undefined) return gatewayError(500)
  const { payload } = result
  const isStructured = typeof payload === 'object' && payload !== null && 'statusCode' in payload
  if (!isStructured) return inferred(payload)

  const parsed = Result.safeParse(payload)
  if (!parsed.success) return gatewayError(500)
  const { statusCode, headers, cookies, body, isBase64Encoded } = parsed.data
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
  const given = Object.entries(headers ?? {})
    .map(([name, value]): [string, string] => [name.toLowerCase(), String(value)])
    .filter(([name]) => !SERVERS_OWN.includes(name))
  const named: Record<string, string | string[]> = Object.fromEntries(given)
  const setCookies = [named['set-cookie'] ?? [], cookies ?? []].flat()
  return {
    status: statusCode,
    headers: {
      ...(bytes.length > 0 && { 'content-type': 'text/plain;charset=utf-8' }),
      ...named,
      ...(setCookies.length > 0 && { 'set-cookie': setCookies }),
    },
    body: bytes,
  }
}

/**
 * API Gateway's own answer where a function failed (500) or took too long (503), and that of a
 * function URL (502).
 */
export const gatewayError = (status: 500 | 502 | 503): ApiResponse => {
  const message = status === 503 ? 'Service Unavailable' : 'Internal Server Error'
  return json(status, JSON.stringify({ message }))
}

/** A result without a status is the body of a 200; text is taken as it is. */
const inferred = (payload: unknown): ApiResponse =>
  json(200, typeof payload === 'string' ? payload : JSON.stringify(payload))

const json = (status: number, text: string): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(text),
})
