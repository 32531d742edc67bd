import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../lib/core/ids.ts'
import { DUE_SHARDS, dueIndex } from '../../../lib/data/due.ts'
import * as table from '../../../lib/data/table.ts'
import { createTask } from '../../../lib/task/create.ts'
import { append, readHistory } from '../../../lib/task/history.ts'
import { listMarkers, listOpen, markersOf, noneLeft } from '../../../lib/task/open-children.ts'
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

const make = async (place?: Pick<Task, 'rootId' | 'parentId' | 'lineage' | 'depth' | 'spawn'>) =>
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

describe('a parent', () => {
  const under = (parent: Task, spawn: NonNullable<Task['spawn']>) =>
    make({
      rootId: parent.rootId,
      parentId: parent.id,
      lineage: [...parent.lineage, parent.id],
      depth: parent.depth + 1,
      spawn,
    })
  const end = async (task: Task) => {
    for (const { key } of markersOf(task)) await table.remove(key)
  }

  it('has open children of a call until the last one’s marker is gone, whatever others do', async () => {
    const root = await make()
    const [callId, otherId] = [newId('call'), newId('call')]
    const terms = { callId, awaited: true, attention: true }
    const [one, other] = [await under(root, terms), await under(root, terms)]
    const third = await under(root, { ...terms, callId: otherId })
    expect((await listOpen(root.id)).sort()).toEqual([one.id, other.id, third.id].sort())
    await end(one)
    expect(await noneLeft(root.id, callId)).toBe(false)
    await end(other)
    expect(await noneLeft(root.id, callId)).toBe(true)
    expect(await noneLeft(root.id, otherId)).toBe(false)
  })

  it('and all above it know of a child that was detached, since each of them may end first', async () => {
    const root = await make()
    const callId = newId('call')
    const middle = await under(root, { callId, awaited: false, attention: true })
    const leaf = await under(middle, { callId, awaited: false, attention: false })
    expect(await listOpen(root.id)).toEqual([middle.id, leaf.id].sort())
    expect(await listOpen(middle.id)).toEqual([leaf.id])
    await end(leaf)
    expect(await listMarkers(middle.id)).toEqual([])
    expect(await listOpen(root.id)).toEqual([middle.id])
  })
})
