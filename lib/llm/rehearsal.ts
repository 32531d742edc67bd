import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { parseObject } from './arguments.ts'
import { ATTENTION } from './message.ts'
import {
  type Answer,
  fill,
  PlaceholderError,
  parseScript,
  type ScriptLine,
} from './rehearsal-script.ts'
import { discriminatorFor, findTool } from './rehearsal-tools.ts'
import { BANNER, introduction, summary } from './rehearsal-words.ts'

/** The length of a streamed delta, in characters. */
const DELTA_CHARS = 24
/** The usual rule of thumb for English text and JSON. */
const CHARS_PER_TOKEN = 4

/**
 * A model that costs nothing and thinks nothing: it calls the tools that the last user message
 * scripts, line by line, and then tells what came back. The same messages always give the same
 * answer with the same call ids, so a step that is asked for again after a crash is the same step.
 */
export const rehearsal = (name: string): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'rehearsal',
  modelId: name,
  supportedUrls: {},
  doGenerate: async options => {
    const content = answerTo(options)
    return {
      content,
      finishReason: finishReasonOf(content),
      usage: usageOf(options, content),
      warnings: [],
    }
  },
  doStream: async options => {
    const content = answerTo(options)
    const parts: LanguageModelV4StreamPart[] = [
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', modelId: name },
      ...content.flatMap(toStream),
      { type: 'finish', finishReason: finishReasonOf(content), usage: usageOf(options, content) },
    ]
    return { stream: streamOf(parts) }
  },
})

type Part = Extract<LanguageModelV4Content, { type: 'text' | 'tool-call' }>

const answerTo = (options: LanguageModelV4CallOptions): Part[] => {
  const { prompt, tools } = options
  // What the platform says in between changes no script.
  const start = prompt.findLastIndex(
    message => message.role === 'user' && !textOf(message).startsWith(ATTENTION),
  )
  const steps = parseScript(textOf(prompt[start]))
  const lines = steps.flat()
  if (lines.length === 0) return [text(introduction(tools))]
  const turn = prompt.slice(0, start + 1).filter(message => message.role === 'user').length
  const idOf = (line: number) => `rehearsal_${turn}_${line + 1}`
  const results = resultsIn(prompt.slice(start + 1))
  const made = callIdsIn(prompt.slice(start + 1))
  const answers = lines.map((_, line) => results.get(made[line] ?? idOf(line)))
  // What comes next follows from the answers alone: the step of the first line without one.
  const next = answers.findIndex(answer => !answer)
  if (next < 0) return [text(`${BANNER} ${summary(lines, answers)}`)]
  if (options.toolChoice?.type === 'none')
    return [
      text(
        `${BANNER} Tools may not be called here, so the script stops.\n\n${summary(lines, answers)}`,
      ),
    ]
  const end = endOfStep(steps, next)
  try {
    return lines
      .slice(next, end)
      .map((line, offset) => ({ line, id: idOf(next + offset) }))
      .filter((_, offset) => !answers[next + offset])
      .map(({ line, id }) => call(options, line, id, answers))
  } catch (error) {
    if (!(error instanceof PlaceholderError)) throw error
    return [
      text(
        `${BANNER} The script stops at its call ${next + 1}, since a placeholder leads nowhere. ${error.message}.\n\n${summary(lines, answers)}`,
      ),
    ]
  }
}

/** Where the step ends that holds this line, counted over all lines. */
const endOfStep = (steps: ScriptLine[][], line: number): number => {
  let end = 0
  for (const step of steps) {
    end += step.length
    if (end > line) break
  }
  return end
}

const call = (
  { tools }: LanguageModelV4CallOptions,
  line: ScriptLine,
  toolCallId: string,
  answers: (Answer | undefined)[],
): Part => {
  const tool = findTool(tools, line.tool)
  const toolName = tool?.name ?? line.tool
  const values = parseObject(line.json)
  if (!values) return { type: 'tool-call', toolCallId, toolName, input: line.json }
  const key = discriminatorFor(tool, line.operation)
  const named = key === undefined ? {} : { [key]: line.operation }
  const input = JSON.stringify({ ...named, ...(fill(values, answers) as object) })
  return { type: 'tool-call', toolCallId, toolName, input }
}

/** Taken from the history where it has them: the number of the turn changes if it is shortened. */
const callIdsIn = (messages: LanguageModelV4Message[]): string[] =>
  messages
    .flatMap(message => (message.role === 'assistant' ? message.content : []))
    .filter(part => part.type === 'tool-call')
    .map(({ toolCallId }) => toolCallId)

const resultsIn = (messages: LanguageModelV4Message[]): Map<string, Answer> =>
  new Map(
    messages
      .flatMap(message => (message.role === 'tool' ? message.content : []))
      .filter(part => part.type === 'tool-result')
      .map(({ toolCallId, output }) => [
        toolCallId,
        {
          text:
            'value' in output && typeof output.value === 'string'
              ? output.value
              : JSON.stringify(output),
          isError: output.type.startsWith('error'),
        },
      ]),
  )

const textOf = (message: LanguageModelV4Message | undefined): string =>
  message?.role === 'user'
    ? message.content.map(part => (part.type === 'text' ? part.text : '')).join('\n')
    : ''

const text = (value: string): Part => ({ type: 'text', text: value })

const streamOf = <Part>(parts: Part[]): ReadableStream<Part> =>
  new ReadableStream({
    start: controller => {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })

const toStream = (part: Part, index: number): LanguageModelV4StreamPart[] => {
  if (part.type === 'text') {
    const id = String(index)
    const deltas = pieces(part.text).map(delta => ({ type: 'text-delta' as const, id, delta }))
    return [{ type: 'text-start', id }, ...deltas, { type: 'text-end', id }]
  }
  const { toolCallId: id, toolName } = part
  const deltas = pieces(part.input).map(delta => ({ type: 'tool-input-delta' as const, id, delta }))
  return [
    { type: 'tool-input-start', id, toolName },
    ...deltas,
    { type: 'tool-input-end', id },
    part,
  ]
}

const pieces = (value: string): string[] =>
  value.match(new RegExp(`[^]{1,${DELTA_CHARS}}`, 'g')) ?? []

const finishReasonOf = (content: Part[]): LanguageModelV4FinishReason =>
  content.some(part => part.type === 'tool-call')
    ? { unified: 'tool-calls', raw: 'tool-calls' }
    : { unified: 'stop', raw: 'stop' }

/** An estimate, so that what a task would cost shows in a rehearsal as well. */
const usageOf = (options: LanguageModelV4CallOptions, content: Part[]): LanguageModelV4Usage => {
  const input = tokens(JSON.stringify([options.prompt, options.tools ?? []]))
  const output = tokens(
    content.map(part => (part.type === 'text' ? part.text : part.input)).join(''),
  )
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  }
}

const tokens = (value: string): number => Math.ceil(value.length / CHARS_PER_TOKEN)
