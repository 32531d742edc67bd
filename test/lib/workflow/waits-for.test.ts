import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { createTask } from '../../../lib/task/create.ts'
import { listMarkers } from '../../../lib/task/open-children.ts'
import { getTask, type Task } from '../../../lib/task/task.ts'
import { endTask } from '../../../lib/workflow/end.ts'
import { startWaiting, stopWaiting, type Wait } from '../../../lib/workflow/waits-for.ts'
import { agent } from '../../agent-row.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

type Edge = [from: number, to: number]

const makeRoot = async () => (await createTask({ id: newId('task'), agent, prompt: 'Hello' })).task
const makeChild = async (parent: Task, spawn: Omit<NonNullable<Task['spawn']>, 'callId'>) => {
  const { rootId, lineage, depth, id: parentId } = parent
  const place = {
    rootId,
    parentId,
    lineage: [...lineage, parentId],
    depth: depth + 1,
    spawn: { ...spawn, callId: newId('call') },
  }
  return (await createTask({ id: newId('task'), agent, prompt: 'Hello', place })).task
}
/** A root, which hears of none of its children, and these. */
const makeFamily = async (count: number): Promise<Task[]> => {
  const root = await makeRoot()
  const detached = { awaited: false, attention: false }
  return Promise.all(Array.from({ length: count }, () => makeChild(root, detached)))
}

const waitOf = (tasks: { id: Id<'task'> }[], [from, to]: Edge): Wait => ({
  waiterId: tasks[from]?.id ?? 'task_',
  targetId: tasks[to]?.id ?? 'task_',
  callId: newId('call'),
})

/** Whether a wait was refused, and with which words. */
const tryToWait = async (wait: Wait): Promise<string | undefined> => {
  try {
    await startWaiting(wait)
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_STATE') return error.message
    throw error
  }
}

const reaches = (edges: Edge[], from: number, to: number, seen = new Set<number>()): boolean => {
  if (from === to) return true
  if (seen.has(from)) return false
  seen.add(from)
  return edges.some(([source, target]) => source === from && reaches(edges, target, to, seen))
}
const hasCycle = (edges: Edge[]): boolean => edges.some(([from, to]) => reaches(edges, to, from))

/** What is written of who waits for whom. */
const standing = async (tasks: Task[]): Promise<{ edges: Edge[]; kinds: Set<string> }> => {
  const markers = await Promise.all(tasks.map(({ id }) => listMarkers(id)))
  const kinds = new Set(markers.flat().map(({ kind }) => kind))
  const edges = markers.flatMap((own, from) =>
    own.map(({ taskId }): Edge => [from, tasks.findIndex(({ id }) => id === taskId)]),
  )
  return { edges, kinds }
}

const TASKS = 5
const arbitraryEdge: fc.Arbitrary<Edge> = fc
  .tuple(fc.nat(TASKS - 1), fc.nat(TASKS - 2))
  .map(([from, to]) => [from, to >= from ? to + 1 : to])

describe('waits of one after the other', () => {
  it('are refused where they would close a circle, and in no other case', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryEdge, { maxLength: 10 }), async asked => {
        const tasks = await makeFamily(TASKS)
        const edges: Edge[] = []
        for (const edge of asked) {
          const [from, to] = edge
          const refused = await tryToWait(waitOf(tasks, edge))
          expect(refused !== undefined).toBe(reaches(edges, to, from))
          if (refused === undefined) edges.push(edge)
        }
        expect((await standing(tasks)).edges.sort()).toEqual(edges.sort())
      }),
      { numRuns: 15 },
    )
  }, 60_000)

  it('count no more once they have ended, nor those of tasks that have', async () => {
    const tasks = await makeFamily(3)
    const [one, other] = [waitOf(tasks, [0, 1]), waitOf(tasks, [1, 2])]
    await startWaiting(one)
    await startWaiting(other)
    expect(await tryToWait(waitOf(tasks, [2, 0]))).toBeDefined()
    await stopWaiting(one)
    expect(await tryToWait(waitOf(tasks, [2, 0]))).toBeUndefined()
    expect(await tryToWait(waitOf(tasks, [0, 1]))).toBeDefined()
    await endTask(await getTask(other.waiterId), { status: 'CANCELLED' })
    expect(await startWaiting(waitOf(tasks, [0, 1]))).toBe('ended')
    expect(await tryToWait(waitOf(tasks, [0, 2]))).toBeDefined()
  })

  it('are woken by the end of what they are for, all of them', async () => {
    const tasks = await makeFamily(4)
    for (const from of [0, 1, 2]) await startWaiting(waitOf(tasks, [from, 3]))
    await endTask(await getTask(tasks[3]?.id ?? 'task_'), { status: 'CANCELLED' })
    for (const { id } of tasks.slice(0, 3)) {
      expect((await getTask(id)).wakeSeq).toBe(1)
      expect(await listMarkers(id)).toEqual([])
    }
  })

  it('reach over the children that a task waits for, or will, and not over others', async () => {
    const root = await makeRoot()
    const awaited = await makeChild(root, { awaited: true, attention: true })
    const heard = await makeChild(root, { awaited: false, attention: true })
    const detached = await makeChild(root, { awaited: false, attention: false })
    const wait = (waiter: Task, target: Task) =>
      tryToWait({ waiterId: waiter.id, targetId: target.id, callId: newId('call') })
    expect(await wait(awaited, root)).toContain(`${root.id} waits for ${awaited.id}`)
    expect(await wait(heard, root)).toContain(`${root.id} waits for ${heard.id}`)
    expect(await wait(detached, root)).toBeUndefined()
    expect(await wait(awaited, detached)).toContain(
      `${detached.id} waits for ${root.id}, and ${root.id} waits for ${awaited.id}`,
    )
  })
})

describe('waits of many at once', () => {
  it('never close a circle, whoever ends meanwhile, and none is left half made', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(arbitraryEdge, { minLength: 2, maxLength: 6 }), { maxLength: 3 }),
        fc.array(fc.nat(TASKS - 1), { maxLength: 2 }),
        async (rounds, ends) => {
          const tasks = await makeFamily(TASKS)
          for (const [round, asked] of rounds.entries()) {
            const ending = ends[round]
            const outcomes = await Promise.all([
              ...asked.map(edge => tryToWait(waitOf(tasks, edge))),
              ending === undefined ? undefined : cancel(tasks[ending]),
            ])
            const { edges, kinds } = await standing(tasks)
            const open = await Promise.all(tasks.map(({ id }) => getTask(id)))
            const alive = edges.filter(([from]) => open[from]?.status === 'QUEUED')
            expect(hasCycle(alive)).toBe(false)
            expect(kinds.has('claimed')).toBe(false)
            // Every refusal names a circle of waits that someone had asked for.
            for (const words of outcomes)
              for (const [, from, to] of words?.matchAll(/(task_\w+) waits for (task_\w+)/g) ?? [])
                expect(namesOf(tasks, rounds.flat())).toContain(`${from} ${to}`)
          }
        },
      ),
      { numRuns: 12 },
    )
  }, 120_000)

  it.each([2, 3, 5])(
    'of which %i would close a circle stand all but one',
    async count => {
      for (let run = 0; run < 5; run++) {
        const tasks = await makeFamily(count)
        const ring = tasks.map((_, from): Edge => [from, (from + 1) % count])
        const refused = await Promise.all(ring.map(edge => tryToWait(waitOf(tasks, edge))))
        expect(refused.filter(words => words !== undefined)).toHaveLength(1)
        expect((await standing(tasks)).edges).toHaveLength(count - 1)
      }
    },
    60_000,
  )
})

const namesOf = (tasks: Task[], edges: Edge[]): string[] =>
  edges.map(([from, to]) => `${tasks[from]?.id} ${tasks[to]?.id}`)

const cancel = async (task: Task | undefined): Promise<undefined> => {
  const current = await getTask(task?.id ?? 'task_')
  await endTask(current, { status: 'CANCELLED' })
}
