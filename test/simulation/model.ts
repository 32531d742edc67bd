import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { tools } from '../../functions/tools/index.ts'
import { findTool } from '../../lib/tool/registry.ts'
import { operationSchema } from '../../lib/tool/schema.ts'
import { lives } from './clock.ts'
import { currentRun } from './current.ts'
import { checkPrompt } from './prompt.ts'
import type { Run } from './run.ts'
import { objectOf } from './values.ts'

const KINDS = { before: 'killed before a model call', after: 'killed after a model call' } as const
const USUAL_MS = 2_000
/** Longer than a lease is renewed, and than the platform waits. */
const SLOW_MS = [20_000, 150_000] as const
/** Steps after which a model says its last word. */
const MAX_STEPS = 4
const ENDS = 0.35
const MAX_CALLS = 4
/** Calls of operations whose effects are counted, of all. */
const PROBES = 0.55
const BROKEN = 0.05
const UNKNOWN = 0.04
const CARELESS = 0.1
const MAX_TOKENS = 2_000

/** A model that does what its seed says, in place of the rehearsal. */
export const rehearsal = (name: string): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'rehearsal',
  modelId: name,
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('The platform always streams.')),
  doStream: async options => {
    const run = currentRun()
    const life = lives.getStore()
    if (!life) throw new Error('A model is asked outside of a function.')
    const { taskId = '' } = life.event as { taskId?: string }
    const request = run.asked.length
    run.asked.push({ taskId, begunAt: life.ledgerAt })
    for (const problem of checkPrompt(options.prompt, run.said))
      run.violate(`${taskId}: ${problem}`)
    await run.functions.pass(life, `asks the model (${request})`, KINDS)
    const isSlow = run.mishaps.happens('model was slow')
    const takesMs = isSlow ? run.random.int(...SLOW_MS) : run.random.around(USUAL_MS)
    await sleepOrAbort(run, takesMs, options.abortSignal)
    if (run.mishaps.happens('model failed')) throw providerError(run)
    const answer = await answerTo(run, options)
    await run.functions.leave(life, KINDS)
    run.spent.push({ taskId, ...answer.usage })
    return { stream: streamOf(partsOf(answer)) }
  },
})

const sleepOrAbort = (run: Run, ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    void run.clock.sleep(ms).then(resolve)
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

const providerError = ({ random }: Run): Error => {
  const statusCode = random.pick([429, 529, 500, 503, 400, 401])
  const responseHeaders = statusCode === 429 ? { 'retry-after': String(random.int(1, 120)) } : {}
  return Object.assign(new Error('The provider says no.'), {
    name: 'AI_APICallError',
    statusCode,
    isRetryable: statusCode >= 429 && statusCode !== 501,
    responseHeaders,
  })
}

type Said = { id: string; name: string; input: string; isWhole: boolean }
type Answer = {
  text: string
  calls: Said[]
  usage: { inputTokens: number; outputTokens: number }
  finish: 'stop' | 'tool-calls' | 'length'
}

const answerTo = async (run: Run, options: LanguageModelV4CallOptions): Promise<Answer> => {
  const { random } = run
  const usage = { inputTokens: random.int(1, MAX_TOKENS), outputTokens: random.int(1, MAX_TOKENS) }
  const steps = options.prompt.filter(({ role }) => role === 'assistant').length
  if (!options.tools?.length || steps >= MAX_STEPS || random.chance(ENDS)) {
    const finish = random.chance(0.02) ? ('length' as const) : ('stop' as const)
    return { text: random.chance(0.05) ? '' : run.text(), calls: [], usage, finish }
  }
  const calls: Said[] = []
  const wanted = random.chance(0.5) ? 1 : random.int(2, MAX_CALLS)
  while (calls.length < wanted) {
    const { endsTask, ...call } = await makeCall(run, options)
    // What ends the task must stand alone, as models mostly know.
    if (endsTask && !random.chance(CARELESS)) calls.length = 0
    calls.push(call)
    if (endsTask) break
  }
  const isCutOff = !calls.at(-1)?.isWhole
  for (const call of calls) run.said.set(call.id, call)
  return { text: '', calls, usage, finish: isCutOff ? 'length' : 'tool-calls' }
}

type Offered = { name: string; inputSchema: { properties?: Record<string, { enum?: string[] }> } }

const makeCall = async (
  run: Run,
  { prompt, tools: offered = [] }: LanguageModelV4CallOptions,
): Promise<Said & { endsTask?: boolean }> => {
  const { random } = run
  const id = `c${run.said.size}-${random.int(0, 1e6)}`
  if (random.chance(UNKNOWN)) return { id, name: 'prob', input: '{}', isWhole: true }
  const probe = offered.find(({ name }) => name === 'probe')
  const chosen = probe && random.chance(PROBES) ? probe : random.pick(offered)
  const { name, inputSchema } = chosen as Offered
  const tool = await findTool(tools, name)
  if (!tool) return { id, name, input: JSON.stringify({ query: run.text() }), isWhole: true }
  const tasks = JSON.stringify(prompt).match(/task_[0-9A-Z]{26}/g) ?? []
  const operation = random.pick(
    Object.values(tool.operations).filter(
      each => tasks.length > 0 || !operationSchema(each).required.some(name => /task/.test(name)),
    ),
  )
  const choice = inputSchema.properties?.target_agent_id?.enum
  const known = { agents: choice ?? run.agents, tasks, text: run.text, random }
  const values = objectOf(operationSchema(operation) as never, known)
  const isNamed = inputSchema.properties?.[tool.discriminator] !== undefined
  const named = isNamed ? { [tool.discriminator]: operation.name } : {}
  const whole = JSON.stringify({ ...named, ...values })
  const { endsTask } = operation
  if (!random.chance(BROKEN)) return { id, name, input: whole, isWhole: true, endsTask }
  const isCutOff = random.chance(0.5)
  // Malformed: it has an end, and is no JSON.
  const input = isCutOff ? whole.slice(0, -2) : whole.replace('{', '{broken ')
  return { id, name, input, isWhole: !isCutOff }
}

const partsOf = ({ text, calls, usage, finish }: Answer): LanguageModelV4StreamPart[] => [
  { type: 'stream-start', warnings: [] },
  ...(text === ''
    ? []
    : [
        { type: 'text-start' as const, id: 't' },
        { type: 'text-delta' as const, id: 't', delta: text },
        { type: 'text-end' as const, id: 't' },
      ]),
  ...calls.flatMap(({ id, name, input, isWhole }): LanguageModelV4StreamPart[] => [
    { type: 'tool-input-start', id, toolName: name },
    { type: 'tool-input-delta', id, delta: input },
    ...(isWhole
      ? [
          { type: 'tool-input-end' as const, id },
          { type: 'tool-call' as const, toolCallId: id, toolName: name, input },
        ]
      : []),
  ]),
  {
    type: 'finish',
    finishReason: { unified: finish, raw: finish },
    usage: {
      inputTokens: {
        total: usage.inputTokens,
        noCache: usage.inputTokens,
        cacheRead: 0,
        cacheWrite: 0,
      },
      outputTokens: { total: usage.outputTokens, text: usage.outputTokens, reasoning: 0 },
    },
  },
]

const streamOf = <Part>(parts: Part[]): ReadableStream<Part> =>
  new ReadableStream({
    start: controller => {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
