import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { errorFields } from '../../lib/core/log.ts'
import { TRACE_HEADERS_SECRET } from '../../lib/deploy/secrets.ts'
import { SEND_TIMEOUT_MS } from '../../lib/trace/send.ts'
import { type Receiver, startReceiver, treeOf } from '../otlp-receiver.ts'
import { startWorld, until, type World } from '../world.ts'
import { readPage } from './page.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const KEY = 'a-key-of-my-own-choice'
const page = readPage('tracing.md')
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    match => match[1] ?? '',
  )

let world: World
let receiver: Receiver
let dev: ChildProcess | undefined
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'espalier-tracing-'))
  receiver = await startReceiver()
  world = await startWorld()
})
afterEach(() => {
  vi.unstubAllEnvs()
  receiver.forget()
})
afterAll(async () => {
  dev?.kill('SIGTERM')
  await world.stop()
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
})

const ended = () =>
  until(
    'the root’s end is told',
    async () =>
      receiver.spans.some(
        ({ name, parentSpanId }) => parentSpanId === undefined && name.startsWith('invoke_agent'),
      ) || undefined,
  )

/** The page's job: a planner looks something up, and asks a writer. */
const playJob = async () => {
  const writer = await world.createAgent(['time'], { name: 'Writer' })
  const planner = await world.createAgent(['time', 'calculator', 'sub_agent'], { name: 'Planner' })
  await world.setSettings(planner, 'sub_agent', { allowed_target_agents: [writer] })
  const id = await world.createTask(
    planner,
    '/time now {}',
    '/calculator calculate {"expression": "17 * 24"}',
    '',
    `/sub_agent sub_agent ${JSON.stringify({ target_agent_id: writer, prompt: '/time now {}' })}`,
  )
  const [approval] = await world.untilApproval(id)
  await world.decide(approval, 'approve')
  await world.untilTask(id, 'COMPLETED')
}

it('shows the trace that its job has', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url)
  await playJob()
  await ended()
  expect(receiver.problems).toEqual([])
  expect(`${treeOf(receiver.spans).join('\n')}\n`).toBe(blocks('text')[0])
})

it('says which spans there are and what is in them', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url)
  await playJob()
  await ended()
  const known = receiver.spans.flatMap(({ attributes, events }) => [
    ...Object.keys(attributes),
    ...events.map(({ name }) => name),
  ])
  const named = [...page.matchAll(/`((?:espalier|gen_ai)\.[a-z_.*]+|call-[a-z]+)`/g)].map(
    ([, name = '']) => name,
  )
  expect(named.length).toBeGreaterThan(6)
  for (const name of named) {
    // A rehearsal costs nothing.
    if (name === 'espalier.cost.usd' || name === 'espalier.*') continue
    const start = name.replace(/\*$/, '')
    expect(
      known.filter(each => each.startsWith(start)),
      name,
    ).not.toEqual([])
  }
})

it('has a command that sends the traces of a local runner', async () => {
  const [command = ''] = blocks('sh')
  const [, variable = '', address = ''] = /^(\w+)=(\S+) npm run dev$/.exec(command.trim()) ?? []
  expect(address).toBe('http://127.0.0.1:4318')
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, PORT: '0', ESPALIER_DATA: folder, ESPALIER_ADMIN_KEY: KEY }
  dev = spawn(process.execPath, ['scripts/dev.ts'], {
    cwd: ROOT,
    env: { ...env, [variable]: receiver.url },
  })
  let text = ''
  dev.stdout?.on('data', chunk => {
    text += chunk
  })
  const url = await until('it listens', async () => /listens on (\S+)/.exec(text)?.[1])
  const ask = async (where: string, body: object) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/v1${where}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return ((await response.json()) as { data: { id: string } }).data.id
  }
  const model = { provider: 'rehearsal', name: 'script' }
  const agent = await ask('/agents', { name: 'Local', model })
  await ask('/tasks', { agent_id: agent, prompt: 'Hello' })
  await ended()
  expect(treeOf(receiver.spans)).toEqual(['invoke_agent Local', '  chat script'])
})

it('names the secret and the bound as they are', () => {
  expect(page).toContain(`sst secret set --stage production ${TRACE_HEADERS_SECRET} `)
  expect(SEND_TIMEOUT_MS).toBe(2_000)
  expect(page).toContain('two seconds at most')
})

/** What a query has beside fields of ours. */
const WORDS = new Set(
  'fields filter sort limit stats by as and or asc desc count avg pct max sum latest'.split(' '),
)

it('asks CloudWatch for fields and events that lines have', async () => {
  world.logs.length = 0
  await playJob()
  const failing = await world.createAgent(['time'])
  await world.run(failing, 'time.epoch', { date_time: 'never' })
  await until('nothing runs', async () => (world.running() === 0 ? true : undefined))
  // What a failure of nobody's making would add.
  const known = new Set(
    [...world.logs, errorFields(new TypeError('no'))].flatMap(line => Object.keys(line)),
  )
  const events = new Set(world.logs.map(({ event }) => event))
  const queries = blocks('insights')
  expect(queries).toHaveLength(4)
  for (const query of queries) {
    for (const [, event = ''] of query.matchAll(/event = "([^"]+)"/g))
      expect([...events]).toContain(event)
    const made = [...query.matchAll(/ as (\w+)/g)].map(([, name]) => name)
    const words = query.replaceAll(/"[^"]*"|@\w+|\b\d+\b/g, ' ').match(/[a-z]\w*/gi) ?? []
    for (const word of words)
      if (!WORDS.has(word) && !made.includes(word)) expect([...known], query).toContain(word)
  }
})
