import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { routeTable } from '../functions/routes.ts'
import { type LogEntry, setLogSink } from '../lib/core/log.ts'
import { type Stack, startStack } from '../lib/local/stack.ts'
import { createClient } from './demo/client.ts'
import { expect, play, prepare, share } from './demo/job.ts'
import { chooseScript } from './demo/script.ts'
import { searchSecret } from './demo/secrecy.ts'
import type { Outcome } from './demo/stage.ts'
import { createTimeline, type Timeline } from './demo/timeline.ts'
import { loadFunction } from './load-function.ts'

/**
 * The main job, played through HTTP as an outside client would, on a stack of its own that is
 * gone afterwards. Ends with exit code 1 where anything isn't as it should be.
 */
const main = async () => {
  const options = readOptions()
  if (!options) return
  const timeline = createTimeline(options.json)
  const logs: LogEntry[] = []
  setLogSink(entry => logs.push(entry))
  const directory = await mkdtemp(path.join(tmpdir(), 'espalier-demo-'))
  try {
    await run(timeline, directory, logs)
  } catch (error) {
    for (const entry of logs.filter(({ level }) => level !== 'info'))
      process.stderr.write(`${JSON.stringify(entry)}\n`)
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const USAGE = 'Usage: npm run demo [-- --json]'

const readOptions = (): { json: boolean } | undefined => {
  try {
    return parseArgs({ options: { json: { type: 'boolean', default: false } } }).values
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`)
    process.exitCode = 1
    return undefined
  }
}

const run = async (timeline: Timeline, directory: string, logs: LogEntry[]) => {
  const script = chooseScript()
  const started = performance.now()
  const stack = await startStack({ table: await routeTable(), load: loadFunction, directory })
  try {
    const { name, provider } = script.model
    timeline.tell(
      'platform',
      'stack-started',
      `listens on ${stack.url}; the model is ${provider}/${name}`,
    )
    const password = randomBytes(24).toString('base64url')
    const client = createClient(stack.url, stack.newKey ?? '')
    const stage = {
      client,
      timeline,
      script,
      url: stack.url,
      activity: () => ({ running: stack.running(), waiting: stack.waiting() }),
    }
    const agents = await prepare(stage, password)
    const outcome = await play(stage, agents)
    checkOutcome(outcome)
    await share(stage, outcome.child, password)
    await checkSecrecy({ password, directory, logs, answers: client.answers(), timeline })
    tellCosts({
      timeline,
      stack,
      outcome,
      watching: watchingOf(logs),
      seconds: (performance.now() - started) / 1_000,
      isRehearsal: script.isRehearsal,
    })
  } finally {
    await stack.close()
  }
}

const checkOutcome: (outcome: Outcome) => asserts outcome is Required<Outcome> = ({
  root,
  child,
}) => {
  expect(
    root.status === 'COMPLETED',
    `the planner's task completes (${JSON.stringify(root.error)})`,
  )
  expect(child?.status === 'COMPLETED', "the writer's task completes")
  const answer = root.tool_calls.find(call => call.tool === 'sub_agent')
  expect(answer?.status === 'COMPLETED', 'the planner has its answer')
}

const checkSecrecy = async ({
  password,
  directory,
  logs,
  answers,
  timeline,
}: {
  password: string
  directory: string
  logs: LogEntry[]
  answers: string[]
  timeline: Timeline
}) => {
  const { looked, found } = await searchSecret(password, {
    directory,
    texts: { logLines: logs.map(entry => JSON.stringify(entry)), answers },
  })
  expect(found.length === 0, `the password is nowhere (it is in ${found.join(', ')})`)
  timeline.tell(
    'platform',
    'secret-searched',
    `holds the password nowhere in the clear: ${looked.files} files of rows and objects, ${looked.logLines} log lines, ${looked.answers} answers`,
    looked,
  )
}

type Watching = { requests: number; readUnits: number }

/** What the demo's own polling read: a watcher of a real task would read once, or be told. */
const watchingOf = (logs: LogEntry[]): Watching => {
  const reads = logs.filter(({ event, method }) => event === 'request-handled' && method === 'GET')
  const sum = (name: string) => reads.reduce((total, entry) => total + Number(entry[name] ?? 0), 0)
  return { requests: sum('dynamodbRequests'), readUnits: sum('readUnits') }
}

const tellCosts = ({
  timeline,
  stack,
  outcome: { root, child },
  watching,
  seconds,
  isRehearsal,
}: {
  timeline: Timeline
  stack: Stack
  outcome: Outcome
  watching: Watching
  seconds: number
  isRehearsal: boolean
}) => {
  const { dynamodb, s3Requests, stateTransitions, invocations } = stack.costs()
  const { input_tokens, output_tokens, steps } = root.usage
  const tool_calls = root.tool_calls.length + (child?.tool_calls.length ?? 0)
  const seconds_taken = Number(seconds.toFixed(1))
  timeline.figures('job-cost', 'What it cost', [
    { label: 'steps', fields: { steps } },
    { label: 'tool calls', fields: { tool_calls } },
    {
      label: 'tokens',
      text: `${input_tokens} in, ${output_tokens} out${isRehearsal ? ' (estimated: no model was asked)' : ''}`,
      fields: { input_tokens, output_tokens },
    },
    { label: 'state transitions', fields: { state_transitions: stateTransitions } },
    { label: 'function invocations', fields: { function_invocations: invocations } },
    {
      label: 'DynamoDB requests',
      fields: { dynamodb_requests: dynamodb.requests - watching.requests },
    },
    {
      label: 'DynamoDB read units',
      fields: { dynamodb_read_units: dynamodb.readUnits - watching.readUnits },
    },
    { label: 'DynamoDB write units', fields: { dynamodb_write_units: dynamodb.writeUnits } },
    { label: 'S3 requests', fields: { s3_requests: s3Requests } },
    { label: 'seconds', fields: { seconds: seconds_taken } },
    {
      label: 'not counted',
      text: `${watching.requests} DynamoDB requests of this demo's own looking on`,
      fields: { dynamodb_requests_of_watching: watching.requests },
    },
  ])
}

await main()
