import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { devNull } from 'node:os'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { newId } from '../../../lib/core/ids.ts'
import { type LogEntry, setLogSink } from '../../../lib/core/log.ts'
import { bodyOf } from '../../../lib/notification/notice.ts'
import { sendEmail } from '../../../lib/notification/send-email.ts'
import type { Subscription } from '../../../lib/notification/subscription.ts'
import { callOf } from './subscribed.ts'

// The real client of SES against a socket of this machine, which answers as the service does.

type Asked = { method?: string; url?: string; headers: IncomingHttpHeaders; body: unknown }
const asked: Asked[] = []
const logs: LogEntry[] = []
let answer = { status: 200, type: '', body: { MessageId: 'a-message' } as object }

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { method = '', url = '', headers } = request
  asked.push({ method, url, headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    ...(answer.type === '' ? {} : { 'x-amzn-errortype': answer.type }),
  })
  response.end(JSON.stringify(answer.body))
})

beforeAll(async () => {
  setLogSink(entry => logs.push(entry))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  for (const [name, value] of Object.entries({
    AWS_ENDPOINT_URL_SESV2: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    ESPALIER_EMAIL_SENDER: 'notices@example.org',
    ESPALIER_PUBLIC_URL: 'https://espalier.example/',
  }))
    vi.stubEnv(name, value)
})
beforeEach(() => {
  asked.length = 0
  answer = { status: 200, type: '', body: { MessageId: 'a-message' } }
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const emails = ['ada@example.org', 'eva@example.org']
const subscription = { emails } as unknown as Subscription & { emails: string[] }
const call = callOf(newId('user'))
const delivery = {
  id: newId('delivery'),
  event: 'call.waiting' as const,
  body: bodyOf({ type: 'call.waiting', call }, 'call.waiting', '2026-01-01T00:00:00.000Z'),
}

it('asks SES for one e-mail, with what a webhook gets as lines and an address to open', async () => {
  expect(await sendEmail(subscription, delivery)).toEqual({ result: 'delivered' })
  expect(asked).toHaveLength(1)
  const [{ method, url, headers, body } = { headers: {} } as Asked] = asked
  expect([method, url]).toEqual(['POST', '/v2/email/outbound-emails'])
  expect(headers.authorization).toContain('/eu-central-1/ses/aws4_request')
  expect(body).toEqual({
    FromEmailAddress: 'notices@example.org',
    Destination: { ToAddresses: emails },
    Content: {
      Simple: {
        Subject: { Data: 'A tool call waits for you', Charset: 'UTF-8' },
        Body: { Text: { Data: expect.any(String), Charset: 'UTF-8' } },
      },
    },
  })
  const text = (body as { Content: { Simple: { Body: { Text: { Data: string } } } } }).Content
    .Simple.Body.Text.Data
  expect(text).toContain(`call id: ${call.id}\n`)
  expect(text).toContain('description: Send a letter to Ada\n')
  expect(text).toMatch(/\nhttps:\/\/espalier\.example\/api\/v1\/tool-calls\/call_\w+$/)
  expect(text).not.toContain('canary')
})

it('asks once, whatever SES answers: it is tried again after a pause of its own', async () => {
  for (const [status, type] of [
    [400, 'MessageRejected'],
    [429, 'TooManyRequestsException'],
    [500, 'InternalServiceErrorException'],
  ] as const) {
    asked.length = 0
    answer = { status, type, body: { message: 'ada@example.org is not verified' } }
    expect(await sendEmail(subscription, delivery)).toEqual({
      result: 'status',
      httpStatus: status,
    })
    expect(asked).toHaveLength(1)
  }
  const told = logs.filter(({ event }) => event === 'email-not-sent')
  expect(told).toHaveLength(3)
  expect(JSON.stringify(told)).not.toContain('ada@')
})

it('sends nothing where the sender was taken away', async () => {
  vi.stubEnv('ESPALIER_EMAIL_SENDER', '')
  expect(await sendEmail(subscription, delivery)).toEqual({ result: 'not-configured' })
  expect(asked).toEqual([])
  vi.stubEnv('ESPALIER_EMAIL_SENDER', 'notices@example.org')
})

it('says that SES can’t be reached where it can’t', async () => {
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  expect(await sendEmail(subscription, delivery)).toEqual({ result: 'unreachable' })
})
