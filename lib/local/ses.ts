import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import * as z from 'zod'
import { newNonce } from '../core/ids.ts'
import { log } from '../core/log.ts'
import { answerJson, bind, isFromPage, LOOPBACK, readBody, unbind } from './server.ts'

/** SES takes 40 MB of a message; ours have lines of text. */
const MAX_MESSAGE_BYTES = 1024 * 1024

const Message = z.object({
  FromEmailAddress: z.string(),
  Destination: z.object({ ToAddresses: z.array(z.string()) }),
  Content: z.object({ Simple: z.object({ Subject: z.object({ Data: z.string() }) }) }),
})

/**
 * SES over HTTP, as far as the SDK's SendEmailCommand speaks it. No e-mail leaves this machine: the
 * log says that one would have been sent, to how many, and not what is in it.
 */
export const startSes = async ({ port = 0 }: { port?: number } = {}) => {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request, MAX_MESSAGE_BYTES)
    const isSending = request.method === 'POST' && request.url === '/v2/email/outbound-emails'
    const message = Message.safeParse(isSending ? tryJson(body) : undefined)
    if (isFromPage(request) || !message.success) {
      response.setHeader('x-amzn-errortype', 'BadRequestException')
      answerJson(response, 400, { message: 'Only SendEmail of a simple message is served here.' })
      return
    }
    const addresses = message.data.Destination.ToAddresses.length
    log('info', 'email-not-sent-locally', { addresses })
    answerJson(response, 200, { MessageId: newNonce() })
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => answerJson(response, 500, {}))
  })
  const bound = await bind(server, port)
  return { url: `http://${LOOPBACK}:${bound}`, close: () => unbind(server) }
}

const tryJson = (body: Buffer | undefined): unknown => {
  try {
    return JSON.parse(body?.toString() ?? '')
  } catch {
    return undefined
  }
}
