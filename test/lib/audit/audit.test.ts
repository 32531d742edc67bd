import { expect, test } from 'vitest'
import { type AuditOwner, auditWrite, listAudit } from '../../../lib/audit/audit.ts'
import { newId } from '../../../lib/core/ids.ts'
import { transact } from '../../../lib/data/transact.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'

useLocalTable()

const clock = clockAt('2026-01-01T00:00:00.000Z')

/** Writes so many entries, each a minute after the last, about these targets in turn. */
const fill = async (owner: AuditOwner, count: number, targets: string[]) => {
  for (let minute = 0; minute < count; minute++) {
    clock.set(new Date(Date.UTC(2026, 0, 1) + minute * 60_000).toISOString())
    const entry = {
      by: 'user_1',
      action: 'thing-changed',
      target: targets[minute % targets.length] ?? '',
    }
    await transact([auditWrite(owner, { ...entry, to: minute }, clock)])
  }
}

const readAll = async (owner: AuditOwner, page: { limit: number; target?: string }) => {
  const pages: unknown[][] = []
  let cursor: string | undefined
  do {
    const read = await listAudit(owner, { ...page, ...(cursor ? { cursor } : {}) })
    expect(read.items.length).toBeLessThanOrEqual(page.limit)
    pages.push(read.items.map(({ to }) => to))
    cursor = read.cursor
  } while (cursor)
  return pages.flat()
}

test('a log is read newest first, page after page, and each owner has their own', async () => {
  const [owner, other] = [newId('user'), newId('group')]
  await fill(owner, 5, ['a'])
  await fill(other, 1, ['a'])
  expect(await readAll(owner, { limit: 2 })).toEqual([4, 3, 2, 1, 0])
  expect(await readAll(other, { limit: 2 })).toEqual([0])
  expect(await readAll('instance', { limit: 2 })).toEqual([])
})

test('entries about one target are found among many others, each once', async () => {
  const owner = newId('user')
  await fill(owner, 30, ['a', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b'])
  for (const limit of [1, 2, 7, 100])
    expect(await readAll(owner, { limit, target: 'a' })).toEqual([20, 10, 0])
  expect(await readAll(owner, { limit: 3, target: 'nobody' })).toEqual([])
})

test('an entry that is written with the same key as another makes the change fail', async () => {
  const owner = newId('user')
  const write = auditWrite(owner, { by: 'user_1', action: 'thing-changed', target: 'a' }, clock)
  expect(await transact([write])).toEqual({ ok: true })
  expect(await transact([write])).toEqual({ ok: false, failed: [0] })
})
