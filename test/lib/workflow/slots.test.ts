import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Id, newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { createTask } from '../../../lib/task/create.ts'
import { getTask, Task, TERMINAL } from '../../../lib/task/task.ts'
import { endTask } from '../../../lib/workflow/end.ts'
import { held, LEASE_LOST, LEASE_MS, takeLease } from '../../../lib/workflow/lease.ts'
import { park, queueForSlot } from '../../../lib/workflow/outcome.ts'
import { inSlot, SLOT_LOOK_MS } from '../../../lib/workflow/slots.ts'
import { agent } from '../../agent-row.ts'
import { useLocalTable } from '../../local-table.ts'
import { createMachine } from './machine.ts'

useLocalTable()

const machine = createMachine()
beforeAll(() => machine.install())
afterAll(() => {
  vi.useRealTimers()
})

type Worker = { id: Id<'task'>; isNested: boolean; ticks: number; isHeld: boolean; dies: boolean }

const CAP = 3

const makeWorkers = async (agentId: Id<'agent'>, plan: { isNested: boolean; ticks: number }[]) => {
  const workers: Worker[] = []
  for (const { isNested, ticks } of plan) {
    const id = newId('task')
    const slots = { agentId, isNested, cap: isNested ? CAP - 1 : CAP }
    const place = { rootId: id, lineage: [], depth: 0, slots }
    await createTask({ id, agent, prompt: 'Hello', place })
    vi.setSystemTime(Date.now() + 1)
    workers.push({ id, isNested, ticks, isHeld: false, dies: false })
  }
  return workers
}

/** One tick of a task, as far as slots go: it works, and ends, or waits and is due again. */
const tick = async (worker: Worker, onHold: () => void): Promise<void> => {
  const lease = await takeLease(worker.id, 0)
  if (!('task' in lease)) return
  const { task } = lease
  const done = await inSlot(task, async () => {
    worker.isHeld = true
    onHold()
    await sleep(Math.random() * 10)
    worker.isHeld = false
    worker.ticks -= 1
    if (worker.ticks <= 0) await endTask(task, { status: 'FAILED' }, { where: held(task) })
    else await park(task, { status: 'AWAITING_TOOL' })
  })
  if (done === 'queued') await queueForSlot(task)
}

/** Has all of them come to their ends, each tick a life of its own that a fault may kill. */
const runAll = async (
  workers: Worker[],
): Promise<{ most: number; mostNested: number; looks: number }> => {
  const seen = { most: 0, mostNested: 0, looks: 0 }
  const onHold = () => {
    const holding = workers.filter(({ isHeld }) => isHeld)
    seen.most = Math.max(seen.most, holding.length)
    seen.mostNested = Math.max(seen.mostNested, holding.filter(each => each.isNested).length)
  }
  for (;;) {
    const tasks = await Promise.all(workers.map(({ id }) => getTask(id)))
    if (tasks.every(({ status }) => TERMINAL.includes(status))) return seen
    const due = workers.filter((_, index) => isDue(tasks[index]))
    if (due.length === 0) {
      // Nobody was told: that may only be where somebody died.
      seen.looks += 1
      if (seen.looks > 20) throw new Error('They are stuck.')
      vi.setSystemTime(Date.now() + Math.max(SLOT_LOOK_MS, LEASE_MS))
    }
    const asked = due.length > 0 ? due : workers
    await Promise.all(
      asked.map(worker =>
        machine
          .alive('tick', () => tick(worker, onHold))
          .catch(error => {
            worker.isHeld = false
            if (error !== LEASE_LOST && error.constructor.name !== 'Killed') throw error
          }),
      ),
    )
  }
}

/** Whether a task's execution would have another tick now: its wait was ended, or it waits for none. */
const isDue = (task: Task | undefined): boolean => {
  if (!task || TERMINAL.includes(task.status)) return false
  if (task.leaseUntil !== undefined) return Date.parse(task.leaseUntil) <= Date.now()
  if (task.slotAskedAt === undefined || task.status !== 'QUEUED') return true
  return task.wakeSeq > task.seenWakeSeq
}

const arbitraryPlan = fc.array(
  fc.record({ isNested: fc.boolean(), ticks: fc.integer({ min: 1, max: 3 }) }),
  { minLength: 1, maxLength: 10 },
)

describe('tasks that share an agent’s slots', () => {
  it('run no more at once than may, all come to their turns, and each is told of it', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryPlan, async plan => {
        machine.expect(undefined)
        const seen = await runAll(await makeWorkers(newId('agent'), plan))
        expect(seen.most).toBeLessThanOrEqual(CAP)
        expect(seen.mostNested).toBeLessThanOrEqual(CAP - 1)
        expect(seen.looks).toBe(0)
      }),
      { numRuns: 10 },
    )
  }, 120_000)

  it('leave nothing behind', async () => {
    machine.expect(undefined)
    const agentId = newId('agent')
    const plan = Array.from({ length: 12 }, (_, index) => ({ isNested: index % 3 === 0, ticks: 2 }))
    await runAll(await makeWorkers(agentId, plan))
    expect(await table.queryAll(Task.pick({}), { pk: `slots#${agentId}` })).toEqual([])
  })

  it('come to their turns wherever one of them dies', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryPlan,
        fc.nat(150),
        fc.constantFrom('killed before' as const, 'killed after' as const, 'answer lost' as const),
        async (plan, at, how) => {
          const workers = await makeWorkers(newId('agent'), plan)
          machine.expect({ at, how })
          const seen = await runAll(workers).catch(error => {
            if (how === 'answer lost' && String(error).includes('lost')) return undefined
            throw error
          })
          machine.expect(undefined)
          const again = seen ?? (await runAll(workers))
          expect(again.most).toBeLessThanOrEqual(CAP)
          expect(again.mostNested).toBeLessThanOrEqual(CAP - 1)
        },
      ),
      { numRuns: 25 },
    )
  }, 240_000)

  it('take a slot in the order in which they were made', async () => {
    machine.expect(undefined)
    const agentId = newId('agent')
    const workers = await makeWorkers(
      agentId,
      Array.from({ length: 8 }, () => ({ isNested: false, ticks: 1 })),
    )
    const order: Id<'task'>[] = []
    // All ask while the slots are taken, the youngest first.
    const holders = await makeWorkers(
      agentId,
      Array.from({ length: CAP }, () => ({ isNested: false, ticks: 1 })),
    )
    const gates: (() => void)[] = []
    const holding = holders.map(async ({ id }) => {
      const lease = await takeLease(id, 0)
      if (!('task' in lease)) throw new Error('It is nobody else’s.')
      const { task } = lease
      await inSlot(task, async () => {
        await new Promise<void>(resolve => gates.push(resolve))
        await endTask(task, { status: 'FAILED' }, { where: held(task) })
      })
    })
    while (gates.length < CAP) await sleep(5)
    for (const worker of workers.toReversed()) await tick(worker, () => {})
    for (const { id } of workers) expect((await getTask(id)).status).toBe('QUEUED')
    for (const gate of gates) gate()
    await Promise.all(holding)
    for (;;) {
      const tasks = await Promise.all(workers.map(({ id }) => getTask(id)))
      const due = workers.find((_, index) => isDue(tasks[index]))
      if (!due) break
      await tick(due, () => order.push(due.id))
    }
    expect(order).toEqual(workers.map(({ id }) => id))
  })

  it('take over from who was cancelled in its slot, and pass over who was while it waited', async () => {
    machine.expect(undefined)
    const agentId = newId('agent')
    const plan = Array.from({ length: CAP + 3 }, () => ({ isNested: false, ticks: 1 }))
    const workers = await makeWorkers(agentId, plan)
    for (const { id } of workers.slice(0, CAP)) {
      const lease = await takeLease(id, 0)
      if (!('task' in lease)) throw new Error('It is nobody else’s.')
      // Its function dies in here, and somebody cancels the task.
      void inSlot(lease.task, () => new Promise(() => {}))
    }
    const waiting = workers.slice(CAP)
    await vi.waitFor(async () =>
      expect(await table.queryAll(Task.pick({}), { pk: `slots#${agentId}` })).toHaveLength(CAP),
    )
    for (const worker of waiting) await tick(worker, () => {})
    const [first, second, third] = waiting
    for (const id of [workers[0]?.id, first?.id])
      await endTask(await getTask(id ?? 'task_'), { status: 'CANCELLED' })
    for (const worker of [second, third]) if (worker) await tick(worker, () => {})
    expect((await getTask(second?.id ?? 'task_')).status).toBe('FAILED')
    await tick(third as Worker, () => {})
    expect((await getTask(third?.id ?? 'task_')).status).toBe('FAILED')
  })
})
