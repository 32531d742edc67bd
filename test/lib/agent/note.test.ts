import { beforeEach, expect, test } from 'vitest'
import { MAX_NOTES } from '../../../lib/agent/limits.ts'
import { addNote, overwriteNotes, readNotes } from '../../../lib/agent/note.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'

useLocalTable()

let agent: Id<'agent'>
beforeEach(() => {
  agent = newId('agent')
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
