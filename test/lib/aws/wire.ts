import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it came over the wire. */
export type Recorded = {
  method: string
  /** Path and query, with every escape that was sent. */
  target: string
  headers: Record<string, string>
  body: Buffer
}
/** An answer, or what is done to the connection in place of one. */
export type Reaction =
  | { status?: number; headers?: Record<string, string>; body?: string | Uint8Array }
  | { act: (response: ServerResponse) => void }
export type Wire = Awaited<ReturnType<typeof startWire>>

/** A server in AWS's place, that says what it is told to and remembers what it was asked. */
export const startWire = async () => {
  const requests: Recorded[] = []
  let connections = 0
  let reactTo: (request: Recorded, index: number) => Reaction = () => ({})
  const server = createServer(async (incoming, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method = '', url = '', headers } = incoming
    const request = { method, target: url, headers: flat(headers), body: Buffer.concat(chunks) }
    const reaction = reactTo(request, requests.push(request) - 1)
    if ('act' in reaction) return reaction.act(response)
    response.writeHead(reaction.status ?? 200, reaction.headers ?? {}).end(reaction.body ?? '')
  })
  server.on('connection', () => {
    connections++
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    server,
    /** How many there have been. */
    connections: () => connections,
    /** What every request meets from now on; `index` counts all that came. */
    react: (reaction: Reaction | typeof reactTo) => {
      reactTo = typeof reaction === 'function' ? reaction : () => reaction
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const flat = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const SERVICES = ['DYNAMODB', 'SFN', 'LAMBDA', 'SESV2', 'S3']
export const REGION = 'eu-central-1'
export const SECRET = 'a-secret/with+signs=that/stand/for+nothing'
export const SESSION_TOKEN = 'a-session-token/with+signs=='

/** The environment of a function whose services are all at one address. */
export const environmentAt = (url: string): Record<string, string | undefined> => ({
  AWS_REGION: REGION,
  AWS_DEFAULT_REGION: undefined,
  AWS_ACCESS_KEY_ID: 'AKIDOFNOBODY',
  AWS_SECRET_ACCESS_KEY: SECRET,
  AWS_SESSION_TOKEN: undefined,
  AWS_MAX_ATTEMPTS: undefined,
  ...Object.fromEntries(SERVICES.map(service => [`AWS_ENDPOINT_URL_${service}`, url])),
})
