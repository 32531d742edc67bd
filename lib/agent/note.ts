import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { is } from '../data/expression.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { agentKey } from './agent.ts'
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

/** How often a note is added anew that met others. */
const ATTEMPTS = 20

/**
 * Adds a note; the same call again adds none. INVALID_STATE where there is room for no more, NOT_FOUND
 * where the agent is gone.
 */
export const addNote = async (
  agentId: Id<'agent'>,
  { callId, text, clock = systemClock }: NewNote,
): Promise<void> => {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const { set, notes } = await notebookOf(agentId)
    if (notes >= MAX_NOTES && !(await hasNote(agentId, set, callId))) throw full()
    const outcome = await transact([
      {
        insert: { agentId, callId, text, createdAt: isoNow(clock) } satisfies Note,
        key: { pk: notesOf(agentId), sk: notePrefix(set) + callId },
      },
      {
        key: notebookKey(agentId),
        update: { set: { set }, add: { notes: 1 } },
        // Whoever overwrote the notes since is not undone, and others took no more than the room.
        where: { any: [{ set: is.absent }, { set, notes: is.below(MAX_NOTES) }] },
        create: true,
      },
      isThere(agentId),
    ])
    if (outcome.ok || outcome.failed.includes(0)) return
    if (outcome.failed.includes(2)) throw notFound('agent', agentId)
  }
  throw new AppError('INVALID_STATE', 'These notes are changing all the time. Try again.')
}

/** Puts one note in the place of all; the same call again changes nothing. NOT_FOUND as above. */
export const overwriteNotes = async (
  agentId: Id<'agent'>,
  { callId, text, clock = systemClock }: NewNote,
): Promise<void> => {
  const outcome = await transact([
    {
      insert: { agentId, callId, text, createdAt: isoNow(clock) } satisfies Note,
      key: { pk: notesOf(agentId), sk: notePrefix(callId) + callId },
    },
    { put: { set: callId, notes: 1 } satisfies Notebook, key: notebookKey(agentId) },
    isThere(agentId),
  ])
  if (!outcome.ok && outcome.failed.includes(2)) throw notFound('agent', agentId)
}

/** Takes away all that an agent ever noted. */
export const clearNotes = async (agentId: Id<'agent'>): Promise<void> => {
  for (const key of await table.queryAll(Row, { pk: notesOf(agentId) })) await table.remove(key)
}

const Row = z.object({ pk: z.string(), sk: z.string() })

/** Notes go with their agent, and none come after it. */
const isThere = (agentId: Id<'agent'>): TransactionWrite => ({
  check: agentKey(agentId),
  where: { pk: is.present },
})

const full = () =>
  new AppError(
    'INVALID_STATE',
    `There are ${MAX_NOTES} notes, and no more fit. Have someone overwrite them with a shorter text.`,
  )

const hasNote = async (agentId: Id<'agent'>, set: string, callId: Id<'call'>): Promise<boolean> =>
  (await table.get(Note, { pk: notesOf(agentId), sk: notePrefix(set) + callId })) !== undefined
