import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { Id } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { getLedger } from '../../../lib/task/ledger.ts'
import { listMarkers } from '../../../lib/task/open-children.ts'
import { getTask, getTasks } from '../../../lib/task/task.ts'
import { answersOf, readConversation } from '../../../lib/workflow/conversation.ts'
import { childrenOf } from '../../../lib/workflow/family.ts'
import { startWorld, type World } from '../../world.ts'
import { type Command, createMachine, type Fault } from './machine.ts'

// A task with two sub-agents that it waits for, of which one has to wait its turn, and with one
// that runs beside it and for which it waits in the end by a call. Played once for each place
// where a process may die.

const machine = createMachine()
let world: World
let planner: Id<'agent'>
let prompt: string

/** How long a job may take until it has got over a crash, in minutes that nobody waits for. */
const PATIENCE_MS = 40 * 60_000

beforeAll(async () => {
  world = await startWorld([], { wrap: machine.wrap })
  const writer = await world.createAgent(['calculator'])
  planner = await world.createAgent(['subagents'])
  await world.setSettings(planner, 'subagents', {
    allowed_target_agents: [writer],
    max_concurrent: 1,
  })
  for (const operation of ['spawn_subagent', 'spawn_subagents'])
    await world.override(planner, `subagents.${operation}`, { requires_approval: false })
  machine.install()
  const work = (expression: string) => ({
    target_agent_id: writer,
    prompt: `/calculator calculate ${JSON.stringify({ expression })}`,
  })
  const use = (operation: string, values: object) =>
    `/subagents ${operation} ${JSON.stringify(values)}`
  prompt = [
    use('spawn_subagent', work('1 + 1')),
    use('spawn_subagents', { subagents: [work('2 + 2'), work('3 + 3')], wait: true }),
    '',
    use('spawn_subagent', work('4 + 4')),
    '',
    use('subagent_result', { task_id: '{{3.task_ids.0}}', wait: true }),
  ].join('\n')
})
afterAll(async () => {
  vi.useRealTimers()
  await world.stop()
})

let jobs = 0

const play = async (fault?: Fault): Promise<Command[]> => {
  machine.begin(fault)
  const id = await createJob(`job-${++jobs}`)
  const started = Date.now()
  for (;;) {
    await machine.settle()
    const task = await getTask(id)
    if (task.endedAt !== undefined) break
    if (Date.now() - started > PATIENCE_MS) throw new Error(`${id} is still ${task.status}.`)
    await machine.pass()
  }
  await machine.settle()
  await check(id)
  return [...machine.commands]
}

const createJob = async (name: string): Promise<Id<'task'>> => {
  for (let attempt = 0; attempt < 3; attempt++) {
    const answer = await world.request('POST', '/api/v1/tasks', {
      body: { agent_id: planner, prompt },
      headers: { 'idempotency-key': name },
    })
    if (answer.status < 300) return (answer.body.data as { id: Id<'task'> }).id
  }
  throw new Error('The task could not be created.')
}

/** What holds wherever anything died: all have ended well, and each was told of once. */
const check = async (id: Id<'task'>): Promise<void> => {
  expect((await getTask(id)).status).toBe('COMPLETED')
  const conversation = await readConversation(id)
  const children = await childrenOf(conversation)
  expect(children).toHaveLength(4)
  const [first, , , last] = children
  for (const { status } of await getTasks(children)) expect(status).toBe('COMPLETED')
  const told = conversation.entries.flatMap(({ attention }) => attention ?? [])
  expect(told.filter(child => child === first)).toHaveLength(1)
  const asked = conversation.entries.filter(({ role }) => role === 'assistant')
  const answers = (
    await Promise.all(asked.map(entry => answersOf(entry, conversation.calls)))
  ).flat()
  const fetched = answers.flatMap(answer => answer?.fetched ?? [])
  // Whoever was told of by its result is told of by no message, if that came before.
  expect([...told, ...fetched].sort().filter(child => child === last).length).toBeGreaterThan(0)
  expect(answers.map(answer => answer?.isError)).toEqual([false, false, false, false])
  for (const holder of [id, ...children]) expect(await listMarkers(holder)).toEqual([])
  // No step was asked for twice: four of its own or five, and two of each child.
  const steps = (await getLedger(id))?.steps ?? 0
  expect(steps).toBeLessThanOrEqual(5 + 8 + 1)
  expect([...machine.executions.values()].every(({ state }) => state === 'ended')).toBe(true)
  // The next job finds the slot free, whatever died with it.
  const slots = await table.queryAll(z.object({ sk: z.string() }), { pk: `slots#${planner}` })
  expect(slots.filter(({ sk }) => sk.startsWith('waiting#'))).toEqual([])
}

const isRead = ({ name }: Command) => /^(Get|BatchGet|Query|Describe)/.test(name)

it('sub-agents come to their ends, and are told of, wherever a process dies', async () => {
  const commands = await play()
  const failures: string[] = []
  const seen = new Set<string>()
  for (const [at, command] of commands.entries()) {
    const place = `${command.role} ${command.name} ${command.nth}`
    if (isRead(command) || seen.has(place)) continue
    seen.add(place)
    await play({ at, how: 'killed after' }).catch(error =>
      failures.push(`${at} ${place}: ${error}`),
    )
  }
  expect(failures).toEqual([])
  expect(seen.size).toBeGreaterThan(20)
}, 400_000)
