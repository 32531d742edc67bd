import type { LanguageModelV4Prompt } from '@ai-sdk/provider'

export type SaidCalls = Map<string, { id: string; name: string; input: string }>

/** What every provider demands of a conversation, and what we promise of it; what is wrong. */
export const checkPrompt = (prompt: LanguageModelV4Prompt, said: SaidCalls): string[] => {
  const problems: string[] = []
  const seen = new Set<string>()
  const conversation = prompt.filter(({ role }) => role !== 'system')
  if (conversation[0]?.role !== 'user') problems.push('the conversation does not begin with a user')
  for (const [index, message] of conversation.entries()) {
    if (message.content.length === 0) problems.push(`message ${index} is empty`)
    if (message.role === 'assistant') {
      const calls = message.content.filter(part => part.type === 'tool-call')
      const next = conversation[index + 1]
      const results = next?.role === 'tool' ? next.content : []
      const answered = results.flatMap(part => (part.type === 'tool-result' ? part.toolCallId : []))
      for (const { toolCallId, input } of calls) {
        if (seen.has(toolCallId)) problems.push(`the call ${toolCallId} is there twice`)
        seen.add(toolCallId)
        const times = answered.filter(id => id === toolCallId).length
        if (times !== 1) problems.push(`the call ${toolCallId} has ${times} answers`)
        problems.push(...problemsOfInput(toolCallId, input, said))
      }
      if (answered.length !== calls.length)
        problems.push(`${calls.length} calls have ${answered.length} answers`)
    }
    if (message.role === 'tool') {
      const before = conversation[index - 1]
      if (before?.role !== 'assistant') problems.push(`answers stand alone at ${index}`)
      for (const part of message.content)
        if (part.type === 'tool-result') problems.push(...problemsOfAnswer(part, said))
    }
  }
  return problems
}

/** A call goes back as it was made; a broken one without what was broken. */
const problemsOfInput = (id: string, input: unknown, said: SaidCalls): string[] => {
  if (typeof input !== 'object' || input === null) return [`the call ${id} goes back as a text`]
  const own = said.get(id)
  if (!own) return [`nobody made the call ${id}`]
  const whole = parse(own.input)
  const expected = whole === undefined ? '{}' : JSON.stringify(whole)
  return JSON.stringify(input) === expected
    ? []
    : [`the call ${id} goes back changed: ${JSON.stringify(input)}`]
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Result = { toolCallId: string; toolName: string; output: { type: string; value?: unknown } }

/** An answer goes to the call that asked: what the probe did says which one that was. */
const problemsOfAnswer = ({ toolCallId, output }: Result, said: SaidCalls): string[] => {
  const did = /^Did (\S+)$/.exec(String(output.value))?.[1]
  const own = said.get(toolCallId)
  if (did === undefined || !own || own.input.includes(`"${did}"`) || did.startsWith('edited'))
    return []
  return [`the call ${toolCallId} got another's answer, "${did}"`]
}
