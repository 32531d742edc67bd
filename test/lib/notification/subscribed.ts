import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../../lib/core/clock.ts'
import { newId } from '../../../lib/core/ids.ts'
import { createSubscription, type SubscriptionFields } from '../../../lib/notification/change.ts'
import { EVENTS } from '../../../lib/notification/event.ts'
import type { NoticedCall, NoticedTask } from '../../../lib/notification/notice.ts'
import { isGroup } from '../../../lib/principal/permission.ts'
import { createUser, type PrincipalId } from '../../../lib/principal/principal.ts'

/** A webhook's subscription with its secret, to every event unless said. */
export const subscribe = async (
  principalId: PrincipalId,
  fields: Partial<SubscriptionFields> = {},
  clock?: Clock,
) => {
  // There once, however often it subscribes.
  const user = { name: 'Someone', role: 'member' as const, createdAt: '2026-01-01T00:00:00.000Z' }
  if (!isGroup(principalId)) await createUser({ id: principalId, ...user })
  const { subscription, secret = '' } = await createSubscription(
    {
      id: newId('subscription'),
      principalId,
      requestHash: '',
      name: 'Ours',
      ...(fields.emails ? {} : { url: 'https://example.com/hook' }),
      events: [...EVENTS],
      isEnabled: true,
      ...fields,
    },
    { by: principalId, ...(clock ? { clock } : {}) },
  )
  return { subscription, secret }
}

export const callOf = (
  principalId: PrincipalId,
  more: Partial<NoticedCall> = {},
): NoticedCall & { arguments: unknown } => ({
  id: newId('call'),
  principalId,
  agentId: newId('agent'),
  tool: 'letters',
  operation: 'send',
  description: 'Send a letter to Ada',
  status: 'PENDING_APPROVAL',
  digest: 'a'.repeat(64),
  approvalExpiresAt: '2026-01-05T00:00:00.000Z',
  // What a stored call has beside what is told of it.
  arguments: { json: '{"text":"a-canary-of-the-arguments"}' },
  ...more,
})

export const taskOf = (
  principalId: PrincipalId,
  more: Partial<NoticedTask> = {},
): NoticedTask & { finalResponse: unknown } => {
  const id = newId('task')
  return {
    id,
    rootId: id,
    principalId,
    agentId: newId('agent'),
    generation: 1,
    status: 'COMPLETED',
    finalResponse: { json: '"a-canary-of-the-result"' },
    ...more,
  }
}

export type Received = { url: string; headers: Record<string, string>; body: string; at: number }

/** A server that keeps what it gets, and answers as a test says. */
export const startReceiver = async () => {
  const received: Received[] = []
  const held: ServerResponse[] = []
  let answer: (count: number) => { status: number; headers?: Record<string, string> } | 'hang' =
    () => ({ status: 204 })
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    received.push({
      url: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks).toString(),
      at: Date.now(),
    })
    const said = answer(received.length)
    if (said === 'hang') return void held.push(response)
    response.writeHead(said.status, said.headers)
    response.end(said.status === 204 ? undefined : 'a-canary-of-the-answer')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    host: `127.0.0.1:${port}`,
    received,
    answer: (next: typeof answer) => {
      answer = next
    },
    /** Answers what hangs. */
    release: (status: number) => {
      for (const response of held.splice(0)) response.writeHead(status).end()
    },
    /** Ends what hangs. */
    cut: () => server.closeAllConnections(),
    close: () => {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    },
  }
}
