import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { transact } from '../data/transact.ts'
import { MAX_NOTES } from './limits.ts'

/** What an agent noted for itself. */
const Note = z.object({
  agentId: idOf('agent'),
  /** The call that wrote it: done again, it is the same note. */
  callId: idOf('call'),
  text: z.string(),
  createdAt: z.iso.datetime(),
})
type Note = z.infer<typeof Note>

/** Which notes count: whoever overwrites them begins a new set, and the old one is read no more. */
const Notebook = z.object({ set: z.string(), notes: z.int() })
type Notebook = z.infer<typeof Notebook>

// Access patterns: an agent's notebook, and the notes of its set, oldest first; under a leading key
// of their own, so that whoever keeps notes can change no agent.
const notesOf = (agentId: Id<'agent'>) => `notes#${agentId}`
const notebookKey = (agentId: Id<'agent'>): table.Key => ({ pk: notesOf(agentId), sk: 'notebook' })
const notePrefix = (set: string) => `note#${set}#`
const FIRST_SET = 'first'

const notebookOf = async (agentId: Id<'agent'>): Promise<Notebook> =>
  (await table.get(Notebook, notebookKey(agentId))) ?? { set: FIRST_SET, notes: 0 }

/** All that an agent has noted, oldest first. */
export const readNotes = async (agentId: Id<'agent'>): Promise<Note[]> => {
  const { set } = await notebookOf(agentId)
  const notes = await table.queryAll(Note, { pk: notesOf(agentId), prefix: notePrefix(set) })
  return notes.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
}

type NewNote = { callId: Id<'call'>; text: string; clock?: Clock }

/** Adds a note; the same call again adds none. INVALID_STATE where there is room for no more. */
export const addNote = async (
  agentId: Id<'agent'>,
  { callId, text, clock = systemClock }: NewNote,
): Promise<void> => {
  const { set, notes } = await notebookOf(agentId)
  if (notes >= MAX_NOTES && !(await hasNote(agentId, set, callId)))
    throw new AppError(
      'INVALID_STATE',
      `There are ${MAX_NOTES} notes, and no more fit. Have someone overwrite them with a shorter text.`,
    )
  await transact([
    {
      insert: { agentId, callId, text, createdAt: isoNow(clock) } satisfies Note,
      key: { pk: notesOf(agentId), sk: notePrefix(set) + callId },
    },
    { key: notebookKey(agentId), update: { set: { set }, add: { notes: 1 } }, create: true },
  ])
}

/** Puts one note in the place of all. */
export const overwriteNotes = async (
  agentId: Id<'agent'>,
  { callId, text, clock = systemClock }: NewNote,
): Promise<void> => {
  await transact([
    {
      put: { agentId, callId, text, createdAt: isoNow(clock) } satisfies Note,
      key: { pk: notesOf(agentId), sk: notePrefix(callId) + callId },
    },
    { put: { set: callId, notes: 1 } satisfies Notebook, key: notebookKey(agentId) },
  ])
}

const hasNote = async (agentId: Id<'agent'>, set: string, callId: Id<'call'>): Promise<boolean> =>
  (await table.get(Note, { pk: notesOf(agentId), sk: notePrefix(set) + callId })) !== undefined
