import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { rehearsal } from '../../../lib/llm/rehearsal.ts'
import { toolSchema } from '../../../lib/tool/schema.ts'
import { read, tool } from './tool.ts'

/** One run of the bare loop: when each call ran, in milliseconds, and how long the whole took. */
export type BareRun = {
  ranAt: number[]
  ms: number
  /** What a durable function would have to keep: the prompt, each answer, and each result. */
  bytes: number
}

/**
 * What any loop around this model costs at least: it calls the tool's function in its own process,
 * checks nothing and keeps its messages in memory.
 */
export const runBare = async (text: string): Promise<BareRun> => {
  const model = rehearsal('script')
  const { name, description } = tool
  const inputSchema = toolSchema(tool, Object.values(tool.operations))
  const prompt: LanguageModelV4Message[] = [{ role: 'user', content: [{ type: 'text', text }] }]
  const ranAt: number[] = []
  let bytes = Buffer.byteLength(text)
  const started = performance.now()
  for (;;) {
    const { content } = await model.doGenerate({
      prompt,
      tools: [{ type: 'function', name, description, inputSchema: inputSchema as object }],
    })
    bytes += Buffer.byteLength(JSON.stringify(content))
    const calls = content.filter(part => part.type === 'tool-call')
    if (calls.length === 0) return { ranAt, ms: performance.now() - started, bytes }
    prompt.push({
      role: 'assistant',
      content: calls.map(call => ({ ...call, input: JSON.parse(call.input) })),
    })
    for (const { toolCallId, toolName, input } of calls) {
      ranAt.push(performance.now())
      const value = read(JSON.parse(input).number)
      bytes += Buffer.byteLength(value)
      const output = { type: 'text', value } as const
      prompt.push({
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId, toolName, output }],
      })
    }
  }
}
