import { expect } from 'vitest'
import * as z from 'zod'
import { getCall, listWaiting } from '../../../lib/call/tool-call.ts'
import { derivedId, type Id } from '../../../lib/core/ids.ts'
import { listAssets } from '../../../lib/media/asset.ts'
import { getLedger } from '../../../lib/task/ledger.ts'
import { finalText, getTask } from '../../../lib/task/task.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { answerOf, readConversation } from '../../../lib/workflow/conversation.ts'
import { startWorld, type World } from '../../world.ts'
import { createMachine, type Fault } from './machine.ts'

const sent: string[] = []

const probe = defineTool({
  name: 'probe',
  description: 'Sends letters that can not be taken back.',
  operations: {
    send: {
      description: 'Send a letter.',
      parameters: z.object({ text: z.string() }),
      effect: 'once',
      requiresApprovalByDefault: true,
      describe: ({ text }) => `Send "${text}"`,
      execute: async ({ parameters }) => {
        sent.push(parameters.text)
        return `Sent ${parameters.text}`
      },
    },
  },
})

/** How long a job may take until it has got over a crash, in minutes that nobody waits for. */
const PATIENCE_MS = 20 * 60_000

const ADMIN = derivedId('user', 'first-admin')

/** A job that has it all: a gated operation that may run once, a child, a handover, and media. */
export const startCrashWorld = async () => {
  const machine = createMachine()
  const world = await startWorld([probe], { wrap: machine.wrap })
  const writer = await world.createAgent(['media'])
  const editor = await world.createAgent(['sub_agent'])
  const planner = await world.createAgent(['probe', 'sub_agent'])
  await world.setSettings(planner, 'sub_agent', { allowed_target_agents: [editor] })
  await world.setSettings(editor, 'sub_agent', { allowed_target_agents: [writer] })
  await world.override(planner, 'sub_agent.sub_agent', { requires_approval: false })
  await world.override(editor, 'sub_agent.handover', { requires_approval: false })
  machine.install()
  /** A child, which hands over to another agent, which stores a document; and a letter. */
  const promptOf = (name: string) => {
    const document = JSON.stringify({ filename: name, content: `# ${name}` })
    const handover = { target_agent_id: writer, prompt: `/media create_media ${document}` }
    const child = `/sub_agent handover ${JSON.stringify(handover)}`
    const asked = { target_agent_id: editor, prompt: child }
    return [
      `/sub_agent sub_agent ${JSON.stringify(asked)}`,
      `/probe send ${JSON.stringify({ text: name })}`,
    ].join('\n')
  }
  return { world, machine, planner, promptOf }
}

export type CrashWorld = Awaited<ReturnType<typeof startCrashWorld>>

let jobs = 0

/** Plays the job with a fault in it, and holds what came of it to what was promised. */
export const playJob = async (
  { world, machine, planner, promptOf }: CrashWorld,
  fault?: Fault,
  options: { twice?: boolean } = {},
) => {
  machine.begin(fault, options)
  const name = `job-${++jobs}`
  const rootId = await createJob(world, { agent_id: planner, prompt: promptOf(name) }, name)
  const started = Date.now()
  let settled = false
  for (;;) {
    await machine.settle()
    const root = await getTask(rootId)
    if (root.endedAt !== undefined) break
    if (Date.now() - started > PATIENCE_MS) throw new Error(`${rootId} is still ${root.status}.`)
    const { calls } = await readConversation(rootId)
    const waiting = [...calls.values()].find(({ status }) => status === 'PENDING_APPROVAL')
    const unknown = [...calls.values()].find(({ status }) => status === 'UNKNOWN')
    const decided = waiting
      ? await world.request('POST', `/api/v1/tool-calls/${waiting.id}/approve`, {
          body: { digest: waiting.digest },
        })
      : unknown && root.status === 'AWAITING_SETTLEMENT'
        ? await world.request('POST', `/api/v1/tool-calls/${unknown.id}/settle`, {
            body: sent.includes(name) ? { ran: true, content: `Sent ${name}` } : { ran: false },
          })
        : undefined
    settled ||= unknown !== undefined
    if (!decided) await machine.pass()
  }
  await machine.settle()
  expect(machine.faulted() === undefined).toBe(fault === undefined)
  const role = machine.faulted()?.role ?? ''
  // An operation that is told of a failure, and lives, has failed; the model may ask again.
  if (fault?.how === 'answer lost' && role.startsWith('tools/')) await checkEnd(rootId, name)
  else await checkJob(rootId, name, { settled, role })
  expect([...machine.executions.values()].every(({ state }) => state === 'ended')).toBe(true)
  return { commands: [...machine.commands], settled }
}

/** Cancels the job while it waits, with a fault in that; whoever is told of one tries again. */
export const cancelJob = async (
  { world, machine, planner, promptOf }: CrashWorld,
  fault?: Fault,
) => {
  machine.begin(undefined)
  const name = `job-${++jobs}`
  const rootId = await createJob(world, { agent_id: planner, prompt: promptOf(name) }, name)
  await machine.settle()
  machine.expect(fault)
  const cancel = () => world.request('POST', `/api/v1/tasks/${rootId}/cancel`)
  const answer = await cancel()
  const commands = [...machine.commands]
  const steps = (await getLedger(rootId))?.steps
  await machine.settle()
  if (answer.status !== 200) expect((await cancel()).status).toBe(200)
  await machine.settle()
  expect(sent).not.toContain(name)
  expect((await getTask(rootId)).status).toBe('CANCELLED')
  expect((await getLedger(rootId))?.steps).toBe(steps)
  expect((await listWaiting(ADMIN, { limit: 100 })).items).toEqual([])
  expect([...machine.executions.values()].every(({ state }) => state === 'ended')).toBe(true)
  return { commands }
}

const createJob = async (world: World, body: object, name: string) => {
  for (let attempt = 0; attempt < 3; attempt++) {
    const answer = await world.request('POST', '/api/v1/tasks', {
      body,
      headers: { 'idempotency-key': name },
    })
    if (answer.status < 300) return (answer.body.data as { id: Id<'task'> }).id
  }
  throw new Error('The task could not be created.')
}

/** What holds whatever happened: the task has ended well, and what may run once ran once at most. */
const checkEnd = async (rootId: Id<'task'>, name: string): Promise<number> => {
  expect((await getTask(rootId)).status).toBe('COMPLETED')
  const runs = sent.filter(text => text === name).length
  expect(runs).toBeLessThanOrEqual(1)
  return runs
}

const checkJob = async (
  rootId: Id<'task'>,
  name: string,
  { settled, role }: { settled: boolean; role: string },
) => {
  const runs = await checkEnd(rootId, name)
  // Only where the operation itself was hit does nobody know whether it ran.
  if (!role.startsWith('tools/probe')) expect(settled).toBe(false)
  if (!settled) expect(runs).toBe(1)
  const { entries, calls } = await readConversation(rootId)
  expect(entries.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant'])
  const [spawn, letter] = [...calls.values()]
  expect(spawn?.status).toBe('COMPLETED')
  expect(letter?.status).toBe(runs === 1 ? 'COMPLETED' : 'FAILED')
  const childId = derivedId('task', spawn?.id ?? '')
  const child = await getTask(childId)
  expect(child.status).toBe('COMPLETED')
  const successor = await getTask(child.handoverTo ?? 'task_')
  expect(successor.status).toBe('COMPLETED')
  const answer = await answerOf(spawn)
  expect(answer?.content).toBe(await finalText(successor))
  expect(answer?.content).toContain(`${name}.md`)
  const media = (await listAssets(ADMIN, { limit: 100 })).items
  expect(media.filter(asset => asset.filename === `${name}.md`)).toHaveLength(1)
  expect((await getCall(letter?.id ?? 'call_'))?.digest).toBe(letter?.digest)
}
