import type { LanguageModelV4FinishReason } from '@ai-sdk/provider'
import type { JsonSchema } from '../tool/dialect/json-schema.ts'
import type { AssistantMessage, Message } from './message.ts'

export type ModelTool = {
  /** The wire's name for the tool: within the provider's pattern and length. */
  name: string
  description: string
  inputSchema: JsonSchema
  strict?: boolean
}

export type ToolChoice = 'auto' | 'none' | 'required' | { tool: string }

export type ModelRequest = {
  system: string
  messages: Message[]
  tools: ModelTool[]
  /** `auto` where absent. */
  toolChoice?: ToolChoice
  maxOutputTokens?: number
  signal?: AbortSignal
}

/**
 * `generate` throws for `error` and `interrupted` unless the answer has a call. Under `length` and
 * `content-filter` without a call, the text is not all that the model had to say.
 */
export type FinishReason = LanguageModelV4FinishReason['unified']

/** Tokens; a provider that does not say counts as zero. */
export type ModelUsage = {
  inputTokens: number
  outputTokens: number
  /** Part of `outputTokens`. */
  reasoningTokens?: number
  /** Part of `inputTokens`. */
  cachedInputTokens?: number
}

export type ModelResponse = {
  message: AssistantMessage
  finishReason: FinishReason
  usage: ModelUsage
  /** How the provider names the answer, and the model that gave it, where it says. */
  id?: string
  model?: string
  /** What the driver could not pass on, as sentences for the log. */
  warnings: string[]
}
