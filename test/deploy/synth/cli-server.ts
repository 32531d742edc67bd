import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type Method = (parameters: never) => Promise<unknown>

/** Stands in for the process of SST's CLI, which components call to have functions made ready. */
export const startCliServer = async (methods: Record<string, Method>) => {
  const answerTo = async (request: IncomingMessage) => {
    const { method, params } = JSON.parse(await text(request)) as {
      method: string
      params: [never]
    }
    const answering = methods[method]
    if (!answering) return { error: `The synth has no answer to SST's ${method}.` }
    try {
      return { result: await answering(params[0]) }
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }
  const server = createServer(async (request, response) => {
    const body = JSON.stringify(await answerTo(request))
    // A connection kept alive would keep the event loop from running dry.
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(body)
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  server.unref()
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, stop: () => server.close() }
}
