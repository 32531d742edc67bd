/** What of a task its span tells; a stored task is one. Times are ISO 8601. */
export type TracedTask = {
  id: string
  rootId: string
  agentId: string
  status: string
  createdAt: string
  endedAt?: string | undefined
  /** Which of its lives this is, from 0, and since when it goes on. */
  life?: number | undefined
  begunAt?: string | undefined
  /** Of a child: the call that asked for it. */
  spawn?: { callId: string } | undefined
  handoverTo?: string | undefined
  error?: { code: string } | undefined
}

/** What of a call its span tells; a stored call is one. */
export type TracedCall = {
  id: string
  taskId?: string | undefined
  rootId?: string | undefined
  agentId: string
  tool: string
  operation: string
  status: string
  createdAt: string
  decidedAt?: string | undefined
  startedAt?: string | undefined
  endedAt?: string | undefined
  answeredAt?: string | undefined
  runs?: number | undefined
  requiresApproval: boolean
}

/** One request to a model, and what came of it. Times are milliseconds since 1970, money dollars. */
export type TracedRequest = {
  /** No other request of the tree has it. */
  mark: string
  task: TracedTask
  provider: string
  model: string
  startedAt: number
  endedAt: number
  response?: {
    id?: string | undefined
    model?: string | undefined
    finishReason: string
    usage: {
      inputTokens: number
      outputTokens: number
      reasoningTokens?: number | undefined
      cachedInputTokens?: number | undefined
    }
    cost: number | undefined
  }
  /** What kind of error it came to, where there is no response. */
  errorType?: string | undefined
}

/** How an agent is called, and who answers for it, as the run of a function has come to know it. */
export type NamedAgent = { id: string; name: string; provider: string; model: string }
