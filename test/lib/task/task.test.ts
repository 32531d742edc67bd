import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../lib/core/ids.ts'
import { DUE_SHARDS, dueIndex } from '../../../lib/data/due.ts'
import * as table from '../../../lib/data/table.ts'
import { createTask } from '../../../lib/task/create.ts'
import { append, readHistory } from '../../../lib/task/history.ts'
import {
  beginStep,
  bookUsage,
  cancelSteps,
  getLedger,
  Ledger,
  ledgerKey,
  MAX_TREE_STEPS,
} from '../../../lib/task/ledger.ts'
import { allEnded, childMarker, listOpen } from '../../../lib/task/open-children.ts'
import {
  getTask,
  moveOf,
  OPEN,
  statesBefore,
  Task,
  TaskStatus,
  TERMINAL,
  taskKey,
} from '../../../lib/task/task.ts'
import { agent } from '../../agent-row.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

const make = async (place?: Pick<Task, 'rootId' | 'parentId' | 'lineage' | 'depth'>) =>
  (await createTask({ id: newId('task'), agent, prompt: 'Hello', ...(place ? { place } : {}) }))
    .task

const pairs = TaskStatus.options.flatMap(from => TaskStatus.options.map(to => ({ from, to })))

describe('a task’s moves', () => {
  it('are each written where they are legal, and refused where they are not', async () => {
    const { id } = await make()
    for (const { from, to } of pairs) {
      await table.update(Task, taskKey(id), { set: { status: from } })
      const { change, where } = moveOf(to)
      const isLegal = statesBefore(to).includes(from)
      expect((await table.update(Task, taskKey(id), change, { where })).ok).toBe(isLegal)
      expect((await getTask(id)).status).toBe(isLegal ? to : from)
    }
  })

  it('lead out of every open state to CANCELLED and ABORTED, and from an end only to a new life', () => {
    expect(statesBefore('CANCELLED')).toEqual(OPEN)
    expect(statesBefore('ABORTED')).toEqual(OPEN)
    for (const to of TaskStatus.options.filter(status => status !== 'QUEUED'))
      for (const from of TERMINAL) expect(statesBefore(to)).not.toContain(from)
    expect(statesBefore('QUEUED')).toEqual(['RUNNING', 'COMPLETED', 'FAILED', 'ABORTED'])
    expect([...OPEN, ...TERMINAL].sort()).toEqual([...TaskStatus.options].sort())
  })
})

describe('a task', () => {
  it('is made whole, once: made again under its id it is the first one', async () => {
    const id = newId('task')
    const ask = { id, agent, prompt: 'First' }
    const made = await Promise.all([createTask(ask), createTask({ ...ask, prompt: 'Second' })])
    expect(made.filter(({ created }) => created)).toHaveLength(1)
    expect(made[0]?.task).toEqual(made[1]?.task)
    expect(await readHistory(id)).toHaveLength(1)
  })

  it('has a history in which each place is taken once', async () => {
    const { id: taskId } = await make()
    const row = { taskId, seq: 1, createdAt: '2026-01-01T00:00:00.000Z' }
    const say = (text: string) =>
      append(row, { role: 'assistant', parts: [{ type: 'text', text }] })
    const written = await Promise.all([say('a'), say('b')])
    expect(written.filter(Boolean)).toHaveLength(1)
    expect((await readHistory(taskId)).map(({ seq }) => seq)).toEqual([0, 1])
  })

  it('is due in a shard that its id alone tells', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), date => {
        const id = newId('task')
        const { gsi3pk } = dueIndex(id, date.toISOString())
        expect(gsi3pk).toBe(dueIndex(id, 'later').gsi3pk)
        expect(Number(gsi3pk.split('#')[1])).toBeLessThan(DUE_SHARDS)
      }),
    )
  })
})

describe('a tree’s ledger', () => {
  it('books steps until the task or one above it is cancelled, and not because of one below', async () => {
    const root = await make()
    const under = (parent: Task) =>
      make({
        rootId: root.id,
        parentId: parent.id,
        lineage: [...parent.lineage, parent.id],
        depth: parent.depth + 1,
      })
    const child = await under(root)
    const grandchild = await under(child)
    for (const task of [root, child, grandchild]) expect(await beginStep(task)).toBe('begun')
    await cancelSteps(child)
    expect(await beginStep(root)).toBe('begun')
    expect(await beginStep(child)).toBe('cancelled')
    expect(await beginStep(grandchild)).toBe('cancelled')
    await cancelSteps(root)
    expect(await beginStep(root)).toBe('cancelled')
    await bookUsage(root.id, { inputTokens: 5, outputTokens: 2 })
    await bookUsage(root.id, { inputTokens: 1, outputTokens: 1 })
    expect(await getLedger(root.id)).toMatchObject({ steps: 4, inputTokens: 6, outputTokens: 3 })
  })

  it(`has room for ${MAX_TREE_STEPS} steps, and says that it is spent, not cancelled`, async () => {
    const root = await make()
    await table.update(Ledger, ledgerKey(root.id), { set: { steps: MAX_TREE_STEPS - 1 } })
    expect(await beginStep(root)).toBe('begun')
    expect(await beginStep(root)).toBe('spent')
    expect((await getLedger(root.id))?.steps).toBe(MAX_TREE_STEPS)
    await cancelSteps(root)
    expect(await beginStep(root)).toBe('cancelled')
  })
})

describe('a parent', () => {
  it('has open children until the last one’s marker is gone', async () => {
    const root = await make()
    const place = { rootId: root.id, parentId: root.id, lineage: [root.id], depth: 1 }
    const [one, other] = [await make(place), await make(place)]
    expect((await listOpen(root.id)).sort()).toEqual([one.id, other.id].sort())
    await table.remove(childMarker(root.id, one.id))
    expect(await allEnded(root.id)).toBe(false)
    await table.remove(childMarker(root.id, other.id))
    expect(await allEnded(root.id)).toBe(true)
  })
})
