import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type Scripted, WIRES, type WireName } from '../llm/wires.ts'

export type Reply = Scripted | { status: number; body?: unknown }
export type Asked = {
  messages: { role: string; content: unknown; tool_calls?: unknown[] }[]
  tools?: unknown[]
}

type Replier = (asked: Asked) => Reply | Promise<Reply>

/** What the server says to the requests that come, one after the other; the last for ever. */
export const server = {
  replies: [] as Replier[],
  asked: [] as Asked[],
  /** Whose wire it speaks. */
  wire: 'openai-compatible' as WireName,
  url: '',
}

export const say = (...replies: (Reply | Replier)[]): void => {
  server.asked = []
  server.replies = replies.map(reply => (typeof reply === 'function' ? reply : () => reply))
}

/** A model on this machine that says what it is told to, for a file's tests. */
export const useModelServer = (): void => {
  let http: Server
  beforeAll(async () => {
    http = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', chunk => chunks.push(chunk))
      request.on('end', async () => {
        const asked: Asked = JSON.parse(Buffer.concat(chunks).toString())
        server.asked.push(asked)
        const at = Math.min(server.asked.length, server.replies.length) - 1
        const reply = (await server.replies[at]?.(asked)) ?? fine
        if ('status' in reply) {
          response.writeHead(reply.status, {
            'content-type': 'application/json',
            'retry-after': '0',
          })
          response.end(JSON.stringify(reply.body ?? { error: { message: 'no' } }))
          return
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(WIRES[server.wire](reply).join(''))
      })
    })
    await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    server.url = `http://127.0.0.1:${port}/v1`
  })
  afterAll(() => http.close())
  beforeEach(() => say(fine))
}

/** The model of an agent that is to ask it. */
export const localModel = () => ({
  provider: 'openai-compatible',
  name: 'local',
  base_url: server.url,
})

export const fine: Scripted = { text: 'Done.', end: 'done' }

export const call = (name: string, values: unknown, id = 'call_1'): Scripted => ({
  calls: [{ id, name, pieces: [JSON.stringify(values)] }],
  end: 'done',
})

/** Every answer of it uses so many tokens. */
export const TOKENS = { input: 20, output: 10 }
