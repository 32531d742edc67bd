/** What the API answers to anything that isn't right. */
type ErrorBody = { error: { code: string; message: string } }

/** An HTTP client as anyone outside would write it; it keeps what it was answered. */
export type Client = {
  get: <T>(path: string) => Promise<T>
  send: <T>(method: string, path: string, body?: unknown) => Promise<T>
  /** Every answer so far, as text. */
  answers: () => string[]
}

/** A client for one key; an answer that is an error is thrown, with its code and message. */
export const createClient = (url: string, key: string): Client => {
  const answers: string[] = []
  const request = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    answers.push(text)
    const parsed = JSON.parse(text) as { data: T } | ErrorBody
    if ('error' in parsed)
      throw new Error(`${method} ${path}: ${parsed.error.code}: ${parsed.error.message}`)
    return parsed.data
  }
  return {
    get: path => request('GET', path),
    send: request,
    answers: () => answers,
  }
}

export type TaskView = {
  id: string
  agent_id: string
  status: string
  final_response: string | null
  error: { code: string; message: string } | null
  tool_calls: CallView[]
  usage: { steps: number; input_tokens: number; output_tokens: number }
}

export type CallView = {
  id: string
  task_id: string
  status: string
  tool: string
  operation: string
  description: string
  digest: string
  arguments: Record<string, unknown>
  result: { is_error: boolean; content: string; data: unknown } | null
}

export type HistoryRow = {
  role: 'user' | 'assistant' | 'tool'
  text: string
  tool?: string
  call_id?: string
  tool_calls?: { call_id: string; tool: string; arguments: string }[]
}
