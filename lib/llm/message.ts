import * as z from 'zod'
import type { Image } from './images.ts'

/**
 * What a provider wants back with a part, by provider: signatures, encrypted reasoning, item ids.
 * Opaque to us; losing it makes some providers refuse the rest of the conversation.
 */
export const ProviderOptions = z.record(z.string(), z.record(z.string(), z.json()))
export type ProviderOptions = z.infer<typeof ProviderOptions>

export const TextPart = z.object({
  type: z.literal('text'),
  text: z.string(),
  providerOptions: ProviderOptions.exactOptional(),
})
export type TextPart = z.infer<typeof TextPart>

export const ReasoningPart = z.object({
  type: z.literal('reasoning'),
  text: z.string(),
  providerOptions: ProviderOptions.exactOptional(),
})
export type ReasoningPart = z.infer<typeof ReasoningPart>

/**
 * `complete`: a JSON object. `cut-off`: the text stops before its end. `malformed`: it has its
 * end, and is no JSON object. Only a complete call may run.
 */
export const ToolCallState = z.enum(['complete', 'cut-off', 'malformed'])
export type ToolCallState = z.infer<typeof ToolCallState>

export const ToolCallPart = z.object({
  type: z.literal('tool-call'),
  toolCallId: z.string(),
  /** The wire's name for the tool, as the model said it. */
  toolName: z.string(),
  /** The arguments' text as it arrived; it is JSON only where the state is `complete`. */
  input: z.string(),
  state: ToolCallState,
  providerOptions: ProviderOptions.exactOptional(),
})
export type ToolCallPart = z.infer<typeof ToolCallPart>

/** How a user's message begins that the platform itself has to say of sub-agents, and no person. */
export const ATTENTION = '[subagent attention]'

export const UserMessage = z.object({ role: z.literal('user'), text: z.string() })
export type UserMessage = z.infer<typeof UserMessage>

export const AssistantPart = z.discriminatedUnion('type', [TextPart, ReasoningPart, ToolCallPart])
export type AssistantPart = z.infer<typeof AssistantPart>

export const AssistantMessage = z.object({
  role: z.literal('assistant'),
  parts: z.array(AssistantPart),
})
export type AssistantMessage = z.infer<typeof AssistantMessage>

/** What tools answered. It is put together from the calls' records and stored nowhere. */
export type ToolMessage = { role: 'tool'; results: ToolAnswer[] }
export type ToolAnswer = {
  toolCallId: string
  toolName: string
  text: string
  isError: boolean
  images?: Image[]
}

/** One message of a conversation as a model reads it. */
export type Message = UserMessage | AssistantMessage | ToolMessage

/** The calls of a message, in the order in which the model made them. */
export const toolCalls = (message: AssistantMessage): ToolCallPart[] =>
  message.parts.filter(part => part.type === 'tool-call')

/** The text that a person reads: the text parts, run together. */
export const textOf = (message: AssistantMessage): string =>
  message.parts.map(part => (part.type === 'text' ? part.text : '')).join('')
