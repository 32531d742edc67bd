import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { agentKey } from '../../../lib/agent/agent.ts'
import { MAX_NOTES } from '../../../lib/agent/limits.ts'
import { addNote, clearNotes, overwriteNotes, readNotes } from '../../../lib/agent/note.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { transact } from '../../../lib/data/transact.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'

useLocalTable()

let agent: Id<'agent'>
beforeEach(async () => {
  agent = newId('agent')
  await transact([{ insert: {}, key: agentKey(agent) }])
})

const note = (text: string, second = 0, callId = newId('call')) => ({
  callId,
  text,
  clock: clockAt(new Date(second * 1_000).toISOString()),
})
const texts = async () => (await readNotes(agent)).map(({ text }) => text)

test('notes are read in the order in which they were made', async () => {
  await addNote(agent, note('b', 2))
  await addNote(agent, note('a', 1))
  await addNote(agent, note('c', 3))
  expect(await texts()).toEqual(['a', 'b', 'c'])
  expect(await readNotes(newId('agent'))).toEqual([])
})

test('the same call notes once, however often it runs', async () => {
  const callId = newId('call')
  await addNote(agent, note('a', 1, callId))
  await addNote(agent, note('a', 2, callId))
  expect(await texts()).toEqual(['a'])
})

test('what is overwritten is gone, and noting goes on from there', async () => {
  await addNote(agent, note('a', 1))
  const again = note('b', 2)
  await overwriteNotes(agent, again)
  await overwriteNotes(agent, again)
  await addNote(agent, note('c', 3))
  expect(await texts()).toEqual(['b', 'c'])
})

test('so many fit and no more, and a repeat of the last one is no more', async () => {
  const notes = Array.from({ length: MAX_NOTES }, (_, index) => note(String(index), index))
  for (const each of notes) await addNote(agent, each)
  await expect(addNote(agent, note('more', 999))).rejects.toMatchObject({ code: 'INVALID_STATE' })
  await addNote(agent, notes.at(-1) ?? note('none'))
  expect(await texts()).toHaveLength(MAX_NOTES)
})

test('so many fit also when all are made at once', async () => {
  const count = MAX_NOTES + 20
  for (let index = 0; index < MAX_NOTES - 2; index++) await addNote(agent, note(String(index)))
  const late = Array.from({ length: count - MAX_NOTES + 2 }, (_, index) => note(`late ${index}`))
  await Promise.allSettled(late.map(each => addNote(agent, each)))
  expect(await texts()).toHaveLength(MAX_NOTES)
})

test('whoever overwrites is not undone by a note that is being made', {
  timeout: 30_000,
}, async () => {
  for (let round = 0; round < 20; round++) {
    await addNote(agent, note('old'))
    await Promise.all([overwriteNotes(agent, note('new')), addNote(agent, note('beside'))])
    const found = await texts()
    expect(found).toContain('new')
    expect(found).not.toContain('old')
  }
})

test('to overwrite again in the same call takes back nothing that was noted since', async () => {
  const first = note('a', 1)
  await overwriteNotes(agent, first)
  for (let index = 1; index < MAX_NOTES; index++) await addNote(agent, note(String(index), 2))
  await overwriteNotes(agent, first)
  await expect(addNote(agent, note('more', 3))).rejects.toMatchObject({ code: 'INVALID_STATE' })
})

test('notes go with their agent, and none come after it', async () => {
  await addNote(agent, note('a'))
  await overwriteNotes(agent, note('b'))
  await table.remove(agentKey(agent))
  await clearNotes(agent)
  for (const keep of [addNote, overwriteNotes])
    await expect(keep(agent, note('late'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const { items } = await table.query(z.object({ sk: z.string() }), { pk: `notes#${agent}` })
  expect(items).toEqual([])
})
