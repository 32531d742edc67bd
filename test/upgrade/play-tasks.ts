import * as z from 'zod'
import { getAgent } from '../../lib/agent/agent.ts'
import { callKey, ToolCall } from '../../lib/call/tool-call.ts'
import { isoIn, isoNow } from '../../lib/core/clock.ts'
import { type Id, idOf, newId, newNonce } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import type { StackOptions } from '../../lib/local/stack.ts'
import { createTask } from '../../lib/task/create.ts'
import { addSummary } from '../../lib/task/history.ts'
import { getTask } from '../../lib/task/task.ts'
import { deleteTask } from '../../lib/workflow/delete-task.ts'
import { takeLease } from '../../lib/workflow/lease.ts'
import { queueForSlot } from '../../lib/workflow/outcome.ts'
import { inSlot } from '../../lib/workflow/slots.ts'
import { startWaiting } from '../../lib/workflow/waits-for.ts'
import { openStream } from '../event-source.ts'
import { dataOf, until, type World } from '../world.ts'

/** Tasks that were on their way, and what their readers held. */
export type TaskFacts = {
  writerId: Id<'agent'>
  plannerId: Id<'agent'>
  retryingAgentId: Id<'agent'>
  agentKey: string
  /** A task of each kind by name: of what it was waiting for, or how it had ended. */
  tasks: Record<string, Id<'task'>>
  /** A call that was asked for with an Idempotency-Key, and a task. */
  repeated: { key: string; callId: string; taskId: string; prompt: string }
  publicUrl: string
  mediaId: string
  /** Where a page of the admin's tasks ended, and which task came next. */
  cursor: { text: string; next: string }
  stream: { taskId: Id<'task'>; lastEventId: string }
}

/** Longer than a row holds inline. */
const LONG_CHARS = 120_000

const StoredCall = z.object({ callId: idOf('call') })

/** Of two tools' functions one dies in the middle of what it does, and one can't be reached. */
export const breakOperations =
  (load: StackOptions['load']): StackOptions['load'] =>
  async module => {
    const loaded = await load(module)
    if (module === 'tools/user-info')
      return {
        handler: async () => {
          throw new Error('The function can’t be reached.')
        },
      }
    if (module !== 'tools/calculator') return loaded
    return {
      handler: async event => {
        const { callId } = StoredCall.parse(event)
        const started = { status: 'STARTED', effect: 'once', claim: newNonce() }
        const times = { startedAt: isoNow(), deadlineAt: isoIn(-1) }
        await table.update(ToolCall, callKey(callId), { set: { ...started, ...times, runs: 1 } })
        throw new Error('The function died.')
      },
    }
  }

type Given = { configurationId: string; refuseNotices: () => void; record: () => Promise<void> }

/** Has tasks of every kind played, and calls `record` while one of them is under way. */
export const playTasks = async (
  world: World,
  { configurationId, refuseNotices, record }: Given,
): Promise<TaskFacts> => {
  const { request, createAgent, createTask: start, untilTask } = world
  const writerId = await createAgent(['media', 'agent', 'ask_user', 'calculator', 'user_info'], {
    name: 'Writer',
  })
  const plannerId = await createAgent(['time', 'sub_agent', 'subagents'], { name: 'Planner' })
  const retryingAgentId = await createAgent(['time'], {
    ...{ name: 'Retrying', model: undefined, llm_configuration_id: configurationId },
    ...{ max_retries: 3, retry_after_minutes: 30 },
  })
  const { key: agentKey } = await world.createAgentKey(writerId)
  await world.setSettings(plannerId, 'sub_agent', { allowed_target_agents: [writerId] })

  // The main job, to its end.
  const create = (name: string, content: string) =>
    `/media create_media ${JSON.stringify({ filename: name, content })}`
  const ask = (prompt: string) =>
    `/sub_agent sub_agent ${JSON.stringify({ target_agent_id: writerId, prompt })}`
  const share = '/media get_public_url {"media_id": "{{1.media_id}}"}'
  const done = await start(plannerId, '/time now {}', '', ask('Write a note.'))
  const [spawning] = await world.untilApproval(done)
  const prompt = ['Write a note.', create('note.md', '# A note'), '', share].join('\n')
  dataOf(await world.decide(spawning, 'approve', { arguments: { ...spawning.arguments, prompt } }))
  const [sharing] = await world.untilApproval(done)
  const { id: mediaId } = dataOf<{ id: string }[]>(await request('GET', '/api/v1/media'))[0] ?? {}
  dataOf(await world.decide(sharing, 'approve'))
  const { tool_calls } = await untilTask(done, 'COMPLETED')
  const publicUrl = /https?:[^"\s]*public\/media[^"\s\\]*/.exec(
    JSON.stringify([tool_calls, await world.getCall(sharing.id)]),
  )?.[0]

  // What is too long for a row, and ends of every kind.
  const long = await start(writerId, create('long.md', 'long '.repeat(LONG_CHARS / 5)))
  await untilTask(long, 'COMPLETED')
  const hasty = await createAgent(['time'], { name: 'Hasty', max_steps: 1 })
  const failed = await start(hasty, '/time now {}', '', '/time now {}')
  await untilTask(failed, 'FAILED')
  const noted = await start(writerId, '/agent write_notes {"text": "Remember the elm."}')
  await untilTask(noted, 'COMPLETED')
  const row = { taskId: noted, atSeq: 2, upTo: 2, createdAt: isoNow(), model: 'script' }
  await addSummary({ ...row, usage: { inputTokens: 1, outputTokens: 1 } }, 'An elm was noted.')
  const aborted = await start(writerId, create('a.md', 'a'), '', share)
  await world.untilApproval(aborted)
  dataOf(await request('POST', `/api/v1/tasks/${aborted}/abort`))
  const cancelled = await start(writerId, create('b.md', 'b'), '', share)
  await world.untilApproval(cancelled)
  dataOf(await request('POST', `/api/v1/tasks/${cancelled}/cancel`))
  const deleted = await start(writerId, create('c.md', 'c'))
  await untilTask(deleted, 'COMPLETED')
  dataOf(await request('DELETE', `/api/v1/tasks/${deleted}`))
  const deleting = await start(writerId, create('d.md', 'd'))
  await untilTask(deleting, 'COMPLETED')

  // What waits, for each thing that there is to wait for.
  const rejected = await start(writerId, create('e.md', 'e'), '', share)
  dataOf(await world.decide((await world.untilApproval(rejected))[0], 'reject', { reason: 'No.' }))
  await untilTask(rejected, 'COMPLETED')
  refuseNotices()
  const approval = await start(writerId, create('f.md', 'f'), '', share)
  await world.untilApproval(approval)
  const parent = await start(plannerId, ask('Write another.'))
  const [asking] = await world.untilApproval(parent)
  const childPrompt = [create('g.md', 'g'), '', share].join('\n')
  const edited = { ...asking.arguments, prompt: childPrompt }
  dataOf(await world.decide(asking, 'approve', { arguments: edited }))
  await untilTask(parent, 'AWAITING_SUB_AGENTS')
  await world.untilApproval(parent)
  const input = await start(writerId, '/ask_user ask {"question": "Oak or elm?"}')
  await untilTask(input, 'AWAITING_INPUT')
  const settlement = await start(writerId, '/calculator calculate {"expression": "1 + 1"}')
  await untilTask(settlement, 'AWAITING_SETTLEMENT')
  const tool = await start(writerId, '/user_info get {}')
  await untilTask(tool, 'AWAITING_TOOL')
  const retry = await start(retryingAgentId, '/time now {}')
  await until('it is tried again', async () => {
    const { status, failures } = await getTask(retry)
    return (status === 'QUEUED' && failures > 0) || undefined
  })
  const agent = await getAgent(plannerId)
  const makeSlotted = async (): Promise<Id<'task'>> => {
    const id = newId('task')
    const slots = { agentId: plannerId, isNested: false, cap: 1 }
    const place = { rootId: id, lineage: [], depth: 0, slots }
    await createTask({ id, agent, prompt: '/time now {}', place })
    return id
  }
  const [running, queued] = [await makeSlotted(), await makeSlotted()]
  await startWaiting({ waiterId: queued, targetId: running, callId: newId('call') })
  await deleteTask(await getTask(deleting), { by: agent.principalId })

  // What readers hold.
  const repeating = { headers: { 'idempotency-key': 'recorded' } }
  const body = { agent_id: writerId, prompt: create('h.md', 'h') }
  const again = dataOf<{ id: string }>(
    await request('POST', '/api/v1/tasks', { body, ...repeating }),
  )
  const called = dataOf<{ call_id: string }>(
    await world.run(writerId, 'media.create_media', { filename: 'i.md', content: 'i' }, repeating),
  )
  await untilTask(again.id, 'COMPLETED')
  const page = await request('GET', '/api/v1/tasks?limit=2')
  const { next_cursor: text } = page.body as { next_cursor?: string }
  const next = dataOf<{ id: string }[]>(
    await request('GET', `/api/v1/tasks?limit=1&cursor=${text}`),
  )[0]?.id
  const stream = await openStream(`${world.url}/api/v1/tasks/${approval}/stream`, {
    key: world.adminKey,
  })
  await until('messages', async () => stream.messages.length > 2 || undefined)

  // A tick holds its task and a slot, another waits for the slot, and someone watches.
  const [one, other] = await Promise.all([takeLease(running, 0), takeLease(queued, 0)])
  if (!('task' in one) || !('task' in other)) throw new Error('Someone else has the lease.')
  await inSlot(one.task, async () => {
    if ((await inSlot(other.task, async () => 'ran')) === 'queued') await queueForSlot(other.task)
    await record()
  })
  const lastEventId = stream.messages.at(-2)?.id
  stream.hangUp()
  if (!publicUrl || !mediaId || !text || !next || !lastEventId) throw new Error('Not all is there.')
  return {
    ...{ writerId, plannerId, retryingAgentId, agentKey, publicUrl, mediaId },
    tasks: {
      ...{ done, long, noted, failed, aborted, cancelled, deleted, deleting, rejected },
      ...{ approval, parent, input, settlement, tool, retry, running, queued },
    },
    repeated: { key: 'recorded', callId: called.call_id, taskId: again.id, prompt: body.prompt },
    cursor: { text, next },
    stream: { taskId: approval, lastEventId },
  }
}
