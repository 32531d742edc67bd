import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider'
import { parseObject } from './arguments.ts'
import type { AssistantMessage, AssistantPart, Message, ToolAnswer } from './message.ts'
import type { ModelRequest, ModelTool, ToolChoice } from './model.ts'

/** A request in the words of the drivers' interface. */
export const toCallOptions = (request: ModelRequest): LanguageModelV4CallOptions => ({
  prompt: toPrompt(request.system, request.messages),
  // An empty list of tools is refused by some providers, and so is a choice without tools.
  ...(request.tools.length > 0 && {
    tools: request.tools.map(toFunctionTool),
    toolChoice: toToolChoice(request.toolChoice ?? 'auto'),
  }),
  ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
  ...(request.signal && { abortSignal: request.signal }),
})

const toPrompt = (system: string, messages: Message[]): LanguageModelV4Prompt => [
  ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
  ...messages.flatMap(toMessages),
]

const toMessages = (message: Message): LanguageModelV4Message[] => {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: [{ type: 'text', text: message.text }] }]
    case 'assistant':
      return toAssistant(message)
    case 'tool':
      return [
        {
          role: 'tool',
          content: message.results.map(answer => ({
            type: 'tool-result',
            toolCallId: answer.toolCallId,
            toolName: answer.toolName,
            output: toOutput(answer),
          })),
        },
      ]
    default:
      return message satisfies never
  }
}

const toOutput = ({ text, isError, images = [] }: ToolAnswer): LanguageModelV4ToolResultOutput => {
  if (isError) return { type: 'error-text', value: text }
  if (images.length === 0) return { type: 'text', value: text }
  return {
    type: 'content',
    value: [
      { type: 'text', text },
      ...images.map(({ mimeType, bytes }) => ({
        type: 'file' as const,
        mediaType: mimeType,
        data: { type: 'data' as const, data: bytes },
      })),
    ],
  }
}

/** Providers refuse a message without content, and some refuse a text without characters. */
const toAssistant = (message: AssistantMessage): LanguageModelV4Message[] => {
  const parts = message.parts.filter(
    part => part.type === 'tool-call' || part.text !== '' || part.providerOptions,
  )
  return parts.length === 0 ? [] : [{ role: 'assistant', content: parts.map(toPart) }]
}

const toPart = (part: AssistantPart) => {
  if (part.type !== 'tool-call') return part
  const { type, toolCallId, toolName, providerOptions } = part
  // Broken text never goes back to a model: providers refuse every later request for it.
  const input = part.state === 'complete' ? (parseObject(part.input) ?? {}) : {}
  return { type, toolCallId, toolName, input, ...(providerOptions && { providerOptions }) }
}

const toFunctionTool = (tool: ModelTool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name: tool.name,
  description: tool.description,
  // The drivers' types name an older draft; what they are given they pass on.
  inputSchema: tool.inputSchema as JSONSchema7,
  ...(tool.strict !== undefined && { strict: tool.strict }),
})

const toToolChoice = (choice: ToolChoice): LanguageModelV4ToolChoice =>
  typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool }
