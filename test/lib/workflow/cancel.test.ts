import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { derivedId, type Id } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { getLedger } from '../../../lib/task/ledger.ts'
import { Task, taskKey } from '../../../lib/task/task.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { ask } from '../../probe.ts'
import { useWorld, world } from '../../use-world.ts'
import { until } from '../../world.ts'
import { line, mayAsk } from './sub-agent.ts'

let sent = 0
const probe = defineTool({
  name: 'probe',
  description: 'Sends what can not be taken back, at once or after asking.',
  operations: {
    send: {
      description: 'Send.',
      parameters: z.object({}),
      describe: () => 'Send',
      execute: async () => {
        sent += 1
        return 'sent'
      },
    },
    ask,
  },
})

useWorld([probe])

let boss: Id<'agent'>
let helper: Id<'agent'>

beforeAll(async () => {
  helper = await world.createAgent(['probe', 'sub_agent'], { name: 'Helper' })
  boss = await world.createAgent(['probe', 'sub_agent'], { name: 'Boss' })
  await mayAsk(boss, helper)
  await mayAsk(helper, boss)
})

const cancel = async (id: string) =>
  (await world.request('POST', `/api/v1/tasks/${id}/cancel`)).body.data

type Row = { sk?: { S?: string } }
type Put = { Item?: Row }
type Input = { TransactItems?: { Put?: Put }[]; Key?: Row; UpdateExpression?: string } & Put

const makes =
  (kind: 'task' | 'call') =>
  ({ TransactItems = [], Item }: Input): boolean =>
    [Item, ...TransactItems.map(({ Put }) => Put?.Item)].some(row => row?.sk?.S === kind)
const changes =
  (kind: 'call' | 'ledger') =>
  ({ Key, UpdateExpression }: Input): boolean =>
    UpdateExpression !== undefined && Key?.sk?.S === kind
const endsTask = (input: Input): boolean => JSON.stringify(input).includes('{"S":"CANCELLED"}')

let holds = 0

/** Holds the first such write until the test lets it go. */
const holdWrite = (isIt: (input: Input) => boolean) => {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const name = `hold-${++holds}`
  let isFirst = true
  const { middlewareStack } = dynamodb()
  middlewareStack.add(
    next => async args => {
      if (isFirst && isIt(args.input as Input)) {
        isFirst = false
        held.resolve()
        await released.promise
      }
      return next(args)
    },
    { step: 'initialize', name },
  )
  onTestFinished(() => {
    released.resolve()
    middlewareStack.remove(name)
  })
  return { held: held.promise, release: released.resolve }
}

const allIsQuiet = () =>
  until('all has ended', async () => (world.running() === 0 && world.waiting() === 0) || undefined)

describe('aborting', () => {
  const act = (id: string, verb: 'abort' | 'continue') =>
    world.request('POST', `/api/v1/tasks/${id}/${verb}`, verb === 'continue' ? { body: {} } : {})

  it('leaves a task to be continued that finds in this moment that it may take no step', async () => {
    const id = await world.createTask(boss, '/probe ask {}')
    const [approval] = await world.untilApproval(id)
    const end = holdWrite(input => JSON.stringify(input).includes('{"S":"ABORTED"}'))
    const aborting = act(id, 'abort')
    await end.held
    await world.decide(approval, 'approve')
    await world.untilTask(id, 'ABORTED', 'CANCELLED')
    end.release()
    expect((await aborting).body.data).toMatchObject({ id, status: 'ABORTED' })
    await act(id, 'continue')
    await world.untilTask(id, 'COMPLETED')
  })

  it('through the task that it has taken the place of leaves one to be continued', async () => {
    const id = await world.createTask(boss, line('handover', helper, '/probe ask {}'))
    const [approval] = await world.untilApproval(id)
    const successor = approval.task_id ?? ''
    expect((await act(id, 'abort')).body.data).toMatchObject({ id: successor, status: 'ABORTED' })
    await act(successor, 'continue')
    expect((await world.untilTask(successor, 'COMPLETED', 'CANCELLED')).status).toBe('COMPLETED')
  })
})

describe('cancelling a task that has handed over', () => {
  it('ends the one that goes on in its place, and says so', async () => {
    const id = await world.createTask(boss, line('handover', helper, '/probe ask {}'))
    const [approval] = await world.untilApproval(id)
    expect(await cancel(id)).toMatchObject({ id: approval.task_id, status: 'CANCELLED' })
    expect((await world.getTask(id)).status).toBe('COMPLETED')
    expect((await world.getCall(approval.id)).status).toBe('EXPIRED')
    await allIsQuiet()
  })

  it('as a child reaches its successor, and what that has started', async () => {
    const id = await world.createTask(
      boss,
      line('sub_agent', helper, line('handover', boss, line('sub_agent', helper, '/probe ask {}'))),
    )
    const [approval] = await world.untilApproval(id)
    const [spawn] = (await world.getTask(id)).tool_calls
    const first = derivedId('task', spawn?.id ?? '')
    expect((await world.getTask(first)).status).toBe('COMPLETED')
    await cancel(first)
    expect((await world.getTask(approval.task_id ?? '')).status).toBe('CANCELLED')
    expect(await world.approvals()).toEqual([])
    await world.untilTask(id, 'COMPLETED')
  })

  it('forbids its successor every further step before it comes to end it', async () => {
    const id = await world.createTask(boss, line('handover', helper, '/probe ask {}'))
    const [approval] = await world.untilApproval(id)
    await world.untilTask(id, 'COMPLETED')
    const successor = await table.get(Task, taskKey(approval.task_id as Id<'task'>))
    expect(successor).toMatchObject({ lineage: [id], depth: 0 })
    await cancel(id)
    expect(await getLedger(id)).toMatchObject({ cancelled: new Set([id]), steps: 2 })
  })

  it('ends who goes on in its place also where it hands over in this moment', async () => {
    const id = await world.createTask(boss, line('handover', helper, '/probe ask {}'))
    const [make, end] = [holdWrite(makes('task')), holdWrite(endsTask)]
    await make.held
    const cancelling = cancel(id)
    await end.held
    // The successor would find in the ledger that it is cancelled, but it has not come to that.
    holdWrite(changes('ledger'))
    make.release()
    const { handover } = await world.untilTask(id, 'COMPLETED')
    end.release()
    expect(await cancelling).toMatchObject({ id: handover?.target_task_id, status: 'CANCELLED' })
  })

  it.each(['sub_agent', 'handover'] as const)(
    'or is about to: what its %s was just making is never made',
    async operation => {
      sent = 0
      const id = await world.createTask(boss, line(operation, helper, '/probe send {}'))
      const write = holdWrite(makes('task'))
      await write.held
      expect(await cancel(id)).toMatchObject({ id, status: 'CANCELLED' })
      write.release()
      await allIsQuiet()
      const [call] = (await world.getTask(id)).tool_calls
      expect(call).toMatchObject({ status: 'FAILED' })
      expect(await table.get(Task, taskKey(derivedId('task', call?.id ?? '')))).toBeUndefined()
      expect(sent).toBe(0)
    },
  )
})

describe('cancelling a task with others below it', () => {
  it('leaves one word in the ledger, however many they are', async () => {
    const id = await world.createTask(
      boss,
      ...Array.from({ length: 3 }, () =>
        line('sub_agent', helper, line('sub_agent', boss, '/probe ask {}')),
      ),
    )
    await world.untilApproval(id, 3)
    await cancel(id)
    expect((await getLedger(id))?.cancelled).toEqual(new Set([id]))
    expect(await world.approvals()).toEqual([])
    await allIsQuiet()
  })
})

describe('cancelling a task in the middle of a step', () => {
  it('keeps a call from starting whose record was just being written', async () => {
    sent = 0
    const write = holdWrite(makes('call'))
    const id = await world.createTask(boss, '/probe send {}')
    await write.held
    expect(await cancel(id)).toMatchObject({ status: 'CANCELLED' })
    write.release()
    await allIsQuiet()
    expect((await world.getTask(id)).tool_calls).toEqual([])
    expect(sent).toBe(0)
  })

  it('leaves nothing approved that a person approves in this moment', async () => {
    const id = await world.createTask(boss, '/probe ask {}')
    const [approval] = await world.untilApproval(id)
    const write = holdWrite(changes('call'))
    const cancelling = cancel(id)
    await write.held
    await world.decide(approval, 'approve')
    write.release()
    expect(await cancelling).toMatchObject({ status: 'CANCELLED' })
    expect((await world.getCall(approval.id)).status).toBe('FAILED')
    await allIsQuiet()
  })
})
