/**
 * What each provider streams, as its API's reference documents it: a scripted answer becomes the
 * events of that provider's wire. Tests serve them through a fake fetch to the real drivers.
 */
export type ScriptedCall = { id: string; name: string; pieces: string[] }

export type Scripted = {
  /** With the seal that the provider wants back: a signature or encrypted content. */
  reasoning?: { text: string; seal: string }
  text?: string
  calls?: ScriptedCall[]
  /** `dies`: the connection closes without a word of an end, within the last call. */
  end: 'done' | 'length' | 'dies'
  /** An error that the provider reports within the stream, in place of an end. */
  error?: unknown
}

export type WireName = 'openai' | 'anthropic' | 'google' | 'xai' | 'openai-compatible'

const INPUT_TOKENS = 20
const OUTPUT_TOKENS = 10

/** One server-sent event; Anthropic names it as well. */
const event = (data: unknown, name?: string): string =>
  `${name ? `event: ${name}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

const anthropic = ({ reasoning, text, calls = [], end, error }: Scripted): string[] => {
  const events: { type: string; [field: string]: unknown }[] = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: INPUT_TOKENS, output_tokens: 1 },
      },
    },
  ]
  let index = 0
  const block = (content_block: object, deltas: object[], isLast = false) => {
    events.push({ type: 'content_block_start', index, content_block })
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta })
    if (!(isLast && end === 'dies')) events.push({ type: 'content_block_stop', index })
    index++
  }
  if (reasoning) {
    block({ type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: reasoning.text },
      { type: 'signature_delta', signature: reasoning.seal },
    ])
  }
  if (text !== undefined) {
    const isLast = calls.length === 0
    block({ type: 'text', text: '' }, [{ type: 'text_delta', text }], isLast)
  }
  for (const [position, { id, name, pieces }] of calls.entries()) {
    const deltas = ['', ...pieces].map(partial_json => ({ type: 'input_json_delta', partial_json }))
    block({ type: 'tool_use', id, name, input: {} }, deltas, position === calls.length - 1)
  }
  if (error) events.push({ type: 'error', error })
  else if (end !== 'dies') {
    const ended = calls.length > 0 ? 'tool_use' : 'end_turn'
    const delta = { stop_reason: end === 'length' ? 'max_tokens' : ended, stop_sequence: null }
    events.push({ type: 'message_delta', delta, usage: { output_tokens: OUTPUT_TOKENS } })
    events.push({ type: 'message_stop' })
  }
  return events.map(data => event(data, data.type))
}

/** The Responses API, which xAI has taken over. */
const responses = ({ reasoning, text, calls = [], end, error }: Scripted): string[] => {
  const events: { type: string; [field: string]: unknown }[] = []
  const head = { id: 'resp_1', object: 'response', created_at: 1769718259, model: 'model-1' }
  events.push({
    type: 'response.created',
    response: { ...head, status: 'in_progress', output: [] },
  })
  let output_index = 0
  if (reasoning) {
    const item = { type: 'reasoning', id: 'rs_1', summary: [] as object[], status: 'in_progress' }
    const place = { item_id: 'rs_1', output_index, summary_index: 0 }
    const added = { ...item, encrypted_content: null }
    events.push({ type: 'response.output_item.added', output_index, item: added })
    const part = { type: 'summary_text', text: '' }
    events.push({ type: 'response.reasoning_summary_part.added', ...place, part })
    const delta = reasoning.text
    events.push({ type: 'response.reasoning_summary_text.delta', ...place, delta })
    const summary = [{ type: 'summary_text', text: delta }]
    events.push({ type: 'response.reasoning_summary_part.done', ...place, part: summary[0] })
    const done = { ...item, summary, encrypted_content: reasoning.seal, status: 'completed' }
    events.push({ type: 'response.output_item.done', output_index, item: done })
    output_index++
  }
  if (text !== undefined) {
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress' }
    events.push({
      type: 'response.output_item.added',
      output_index,
      item: { ...item, content: [] },
    })
    const place = { item_id: 'msg_1', output_index, content_index: 0 }
    events.push({ type: 'response.output_text.delta', ...place, delta: text })
    const content = [{ type: 'output_text', text, annotations: [] }]
    const done = { ...item, status: 'completed', content }
    if (!(end === 'dies' && calls.length === 0))
      events.push({ type: 'response.output_item.done', output_index, item: done })
    output_index++
  }
  for (const [position, { id, name, pieces }] of calls.entries()) {
    const item = { type: 'function_call', id: `fc_${position}`, call_id: id, name, arguments: '' }
    const isCut = position === calls.length - 1 && end !== 'done'
    const added = { ...item, status: 'in_progress' }
    events.push({ type: 'response.output_item.added', output_index, item: added })
    const place = { item_id: item.id, output_index }
    for (const delta of pieces)
      events.push({ type: 'response.function_call_arguments.delta', ...place, delta })
    const whole = pieces.join('')
    if (!isCut)
      events.push({ type: 'response.function_call_arguments.done', ...place, arguments: whole })
    const done = { ...item, arguments: whole, status: isCut ? 'incomplete' : 'completed' }
    if (!(isCut && end === 'dies'))
      events.push({ type: 'response.output_item.done', output_index, item: done })
    output_index++
  }
  const usage = {
    input_tokens: INPUT_TOKENS,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: OUTPUT_TOKENS,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
  }
  if (error) events.push({ type: 'error', ...(error as object) })
  else if (end === 'done') {
    const response = { ...head, status: 'completed', output: [], usage, incomplete_details: null }
    events.push({ type: 'response.completed', response })
  } else if (end === 'length') {
    const incomplete_details = { reason: 'max_output_tokens' }
    const response = { ...head, status: 'incomplete', output: [], usage, incomplete_details }
    events.push({ type: 'response.incomplete', response })
  }
  return events.map((data, sequence_number) => event({ ...data, sequence_number }, data.type))
}

const chat = ({ reasoning, text, calls = [], end, error }: Scripted): string[] => {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'model-1' }
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const chunks: unknown[] = [chunk({ role: 'assistant', content: '' })]
  if (reasoning) chunks.push(chunk({ reasoning_content: reasoning.text }))
  if (text !== undefined) chunks.push(chunk({ content: text }))
  for (const [index, { id, name, pieces }] of calls.entries()) {
    // Gemini behind its compatible endpoint hangs its signature on the call.
    const seal = reasoning && { extra_content: { google: { thought_signature: reasoning.seal } } }
    const start = { index, id, type: 'function', function: { name, arguments: '' }, ...seal }
    chunks.push(chunk({ tool_calls: [start] }))
    for (const piece of pieces)
      chunks.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
  }
  if (error) return [...chunks, { error }].map(data => event(data))
  if (end === 'dies') return chunks.map(data => event(data))
  const ended = calls.length > 0 ? 'tool_calls' : 'stop'
  chunks.push(chunk({}, end === 'length' ? 'length' : ended))
  const usage = {
    prompt_tokens: INPUT_TOKENS,
    completion_tokens: OUTPUT_TOKENS,
    total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
  }
  chunks.push({ ...head, choices: [], usage })
  return [...chunks, '[DONE]'].map(data => event(data))
}

/** Gemini sends a call whole or not at all, so a call that was cut off is simply not there. */
const google = ({ reasoning, text, calls = [], end, error }: Scripted): string[] => {
  const chunk = (parts: object[], finish: object = {}) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...finish }],
    usageMetadata: {
      promptTokenCount: INPUT_TOKENS,
      candidatesTokenCount: OUTPUT_TOKENS,
      totalTokenCount: INPUT_TOKENS + OUTPUT_TOKENS,
    },
    modelVersion: 'gemini-2.5-flash',
    responseId: 'response-1',
  })
  const chunks: unknown[] = []
  if (reasoning) chunks.push(chunk([{ text: reasoning.text, thought: true }]))
  if (text !== undefined) chunks.push(chunk([{ text }]))
  const seal = reasoning && { thoughtSignature: reasoning.seal }
  const whole = end === 'done' ? calls : calls.slice(0, -1)
  for (const { name, pieces } of whole)
    chunks.push(chunk([{ functionCall: { name, args: JSON.parse(pieces.join('')) }, ...seal }]))
  if (error) chunks.push({ error })
  else if (end !== 'dies') {
    chunks.push(chunk([{ text: '' }], { finishReason: end === 'length' ? 'MAX_TOKENS' : 'STOP' }))
  }
  return chunks.map(data => event(data))
}

export const WIRES: Record<WireName, (scripted: Scripted) => string[]> = {
  openai: responses,
  anthropic,
  google,
  xai: responses,
  'openai-compatible': chat,
}

export const WIRE_NAMES = Object.keys(WIRES) as WireName[]
