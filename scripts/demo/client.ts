import type * as z from 'zod'
import { createClient as createApiClient } from '../../functions/client.ts'
import type { TaskWithCalls } from '../../lib/http/present-task.ts'

export type TaskView = z.infer<typeof TaskWithCalls>
export type CallView = TaskView['tool_calls'][number]
export type { HistoryRow } from '../../lib/http/present-history.ts'

/** The API's own client, for one key; it keeps what it was answered. */
export const createClient = (url: string, key: string) => {
  const answers: string[] = []
  const client = createApiClient(url, key, {
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers)
      if (init?.method === 'POST') headers.set('idempotency-key', crypto.randomUUID())
      const response = await fetch(input, { ...init, headers })
      answers.push(await response.clone().text())
      return response
    },
  })
  return { api: client.api.v1, answers: () => answers }
}
export type Client = ReturnType<typeof createClient>
