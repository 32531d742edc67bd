import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { routeTable } from '../functions/routes.ts'
import { type LogEntry, setLogSink } from '../lib/core/log.ts'
import { type Stack, startStack } from '../lib/local/stack.ts'
import { createClient } from './demo/client.ts'
import { expect, type Outcome, play, prepare, share } from './demo/job.ts'
import { chooseScript } from './demo/script.ts'
import { searchSecret } from './demo/secrecy.ts'
import { createTimeline, type Timeline } from './demo/timeline.ts'
import { loadFunction } from './load-function.ts'

/**
 * The main job, played through HTTP as an outside client would, on a stack of its own that is
 * gone afterwards. Ends with exit code 1 where anything isn't as it should be.
 */
const main = async () => {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
  const timeline = createTimeline(values.json)
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
}: {
  timeline: Timeline
  stack: Stack
  outcome: Outcome
  watching: Watching
  seconds: number
}) => {
  const { dynamodb, s3Requests, stateTransitions, invocations } = stack.costs()
  timeline.figures('What it cost', [
    ['steps', root.usage.steps],
    ['tool calls', root.tool_calls.length + (child?.tool_calls.length ?? 0)],
    ['tokens', `${root.usage.input_tokens} in, ${root.usage.output_tokens} out`],
    ['state transitions', stateTransitions],
    ['function invocations', invocations],
    ['DynamoDB requests', dynamodb.requests - watching.requests],
    ['DynamoDB read units', dynamodb.readUnits - watching.readUnits],
    ['DynamoDB write units', dynamodb.writeUnits],
    ['S3 requests', s3Requests],
    ['seconds', seconds.toFixed(1)],
    ['not counted', `${watching.requests} DynamoDB requests of this demo's own looking on`],
  ])
}

await main()
