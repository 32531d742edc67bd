import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { dataOf } from '../../functions/client.ts'
import type { Id } from '../../lib/core/ids.ts'
import type { CallView, TaskView } from './client.ts'
import type { Outcome, Stage } from './stage.ts'
import { createWatch } from './watch.ts'

/** How often the operator looks, and how long before giving up. */
const POLL_MS = 50
const REHEARSAL_PATIENCE_MS = 60_000
const MODEL_PATIENCE_MS = 300_000
const TERMINAL = ['COMPLETED', 'FAILED', 'CANCELLED', 'ABORTED']

/** Checks what must be so; the demo fails where it isn't. */
export const expect: (condition: unknown, what: string) => asserts condition = (
  condition,
  what,
) => {
  if (!condition) throw new Error(`The demo expected that ${what}.`)
}

/** Makes the two agents, with settings at two layers; one of them is a password. */
export const prepare = async ({ client: { api }, timeline, script }: Stage, password: string) => {
  timeline.chapter('1. An operator makes two agents')
  const { principal_id: owner } = await dataOf(api.principals.me.$get())
  const { baseUrl, ...model } = script.model
  const wireModel = { ...model, ...(baseUrl ? { base_url: baseUrl } : {}) }
  const make = async (name: string, system_prompt: string, tools: string[]) => {
    const agent = await dataOf(
      api.agents.$post({ json: { name, system_prompt, model: wireModel } }),
    )
    for (const tool of tools)
      await dataOf(api.agents[':id'].tools[':tool'].enable.$post({ param: { id: agent.id, tool } }))
    timeline.tell('operator', 'agent-created', `makes the agent ${name} with ${tools.join(', ')}`, {
      agent_id: agent.id,
    })
    return agent.id
  }
  const writer = await make('Writer', 'You store and share documents.', ['media'])
  const planner = await make('Planner', 'You plan, and have others write.', [
    'time',
    'calculator',
    'sub_agent',
  ])
  const ofOwner = api.principals[':id'].tools[':tool'].settings
  const ofAgent = api.agents[':id'].tools[':tool'].settings
  const timezone = { timezone: 'Europe/Berlin' }
  await dataOf(ofOwner.$put({ param: { id: owner, tool: 'time' }, json: timezone }))
  const signing = { signing_key: password }
  await dataOf(ofOwner.$put({ param: { id: owner, tool: 'media' }, json: signing }))
  const allowed = { allowed_target_agents: [writer] }
  await dataOf(ofAgent.$put({ param: { id: planner, tool: 'sub_agent' }, json: allowed }))
  timeline.tell(
    'operator',
    'settings-written',
    'sets the time zone and a password for all of the owner’s agents,',
  )
  timeline.tell('operator', 'settings-written', 'and, for the planner alone, whom it may ask')
  const { settings } = await dataOf(ofAgent.$get({ param: { id: writer, tool: 'media' } }))
  const { value, source } = settings.signing_key ?? {}
  expect(
    value === '***' && source === 'principal',
    'the password is masked and comes from the principal',
  )
  timeline.tell(
    'platform',
    'settings-read',
    `shows the writer’s signing key as ${value}, from the ${source} layer`,
  )
  return { planner, writer }
}

/** Has the planner do its task, and decides whatever waits for a decision. */
export const play = async (
  stage: Stage,
  agents: { planner: Id<'agent'>; writer: Id<'agent'> },
): Promise<Outcome> => {
  const { client, timeline, script, activity } = stage
  const { api } = client
  timeline.chapter('2. A task for the planner')
  const prompt = script.plannerPrompt(agents.writer)
  const { id } = await dataOf(api.tasks.$post({ json: { agent_id: agents.planner, prompt } }))
  timeline.tell('operator', 'task-created', 'gives the planner a task', { task_id: id })
  const watch = createWatch(stage, agents)
  const patience = script.isRehearsal ? REHEARSAL_PATIENCE_MS : MODEL_PATIENCE_MS
  for (const end = Date.now() + patience; Date.now() < end; await sleep(POLL_MS)) {
    const { root, child } = await watch.look(id)
    if (TERMINAL.includes(root.status)) return { root, child }
    // A task that waits is looked at once nothing runs any more: waiting takes no process.
    const waits = [root, child].some(task => task?.status === 'PENDING_APPROVAL')
    if (!waits || activity().running > 0) continue
    for (const call of await dataOf(api.approvals.$get())) await decide(stage, call)
  }
  throw new Error(`The task did not end within ${patience / 1_000} seconds.`)
}

/** Opens the link that the writer made, without credentials, and revokes it. */
export const share = async (
  { client: { api }, timeline, url }: Stage,
  child: TaskView | undefined,
  password: string,
) => {
  timeline.chapter('6. The document')
  const created = resultOf<{ media_id: Id<'media'>; signature: string }>(child, 'create_media')
  const shared = resultOf<{ public_url: string }>(child, 'get_public_url')
  expect(shared.public_url.startsWith(url), 'the link leads to this installation')
  const opened = await fetch(shared.public_url)
  const text = await opened.text()
  expect(opened.status === 200, `the public link opens (it answered ${opened.status})`)
  timeline.tell(
    'anyone',
    'link-opened',
    `opens the link without a key: 200, ${opened.headers.get('content-type')}`,
  )
  timeline.tell('anyone', 'document-read', text.trim())
  const signature = createHmac('sha256', password).update(text).digest('hex')
  expect(signature === created.signature, 'the document is signed with the password')
  timeline.tell(
    'operator',
    'signature-verified',
    'verifies the signature: the tool had the password, the model never',
  )
  await dataOf(api.media[':id']['public-link'].$delete({ param: { id: created.media_id } }))
  timeline.tell('operator', 'link-revoked', 'revokes the link')
  const revoked = await fetch(shared.public_url)
  expect(revoked.status === 404, `a revoked link answers 404 (it answered ${revoked.status})`)
  timeline.tell('anyone', 'link-opened', `tries the link again: ${revoked.status}`)
}

/** Approves a call; where an agent asks another one, with a prompt edited first. */
const decide = async ({ client: { api }, timeline, script, activity }: Stage, call: CallView) => {
  const { running, waiting } = activity()
  const spawns = call.tool === 'sub_agent'
  if (spawns) timeline.chapter('3. The operator decides')
  timeline.tell(
    'platform',
    'approval-waits',
    `${waiting === 1 ? '1 execution waits' : `${waiting} executions wait`} for a token; ${running} functions run`,
    { running, waiting },
  )
  timeline.tell('operator', 'approval-read', `reads: ${call.description}`)
  const { digest } = call
  expect(digest, 'a call that waits for approval has a digest')
  const edited = spawns
    ? { arguments: { ...call.arguments, prompt: script.edit(String(call.arguments?.prompt)) } }
    : {}
  await dataOf(
    api['tool-calls'][':id'].approve.$post({ param: { id: call.id }, json: { digest, ...edited } }),
  )
  timeline.tell(
    'operator',
    'call-approved',
    spawns ? 'edits the prompt and approves' : 'approves',
    {
      call_id: call.id,
    },
  )
}

const resultOf = <T>(task: TaskView | undefined, operation: string): T => {
  const call = task?.tool_calls.find(candidate => candidate.operation === operation)
  expect(call?.result && !call.result.is_error, `the writer's ${operation} succeeded`)
  return JSON.parse(call.result.content) as T
}
