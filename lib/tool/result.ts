import * as z from 'zod'
import { AppError } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { type Json, type KeepBytes, serialize } from './serialize.ts'

/** What an operation's code says of its call, beyond the plain value that most tools return. */
export type Result = {
  /** What the model reads: a text as it is, any other value by the table of `serialize`. */
  content: unknown
  /** What people see; it never goes to a model. */
  data?: unknown
  /** The media assets that the call made: their ids, or the bytes of new ones. */
  media?: readonly (Id<'media'> | Uint8Array | Blob)[]
  /** The tasks whose ends the model's answer waits for. */
  children?: readonly Id<'task'>[]
  /** When the answer comes at the latest, ISO 8601: those that still run then run beside the task. */
  waitUntil?: string
  /** The answer tells of each what the platform knows; otherwise, what they said. */
  reports?: boolean
  /** They are no children of this task: it has begun to wait for them (`workflow/waits-for.ts`). */
  isElsewhere?: boolean
  /** Children that run beside the task, which is told when each has ended. */
  beside?: readonly Id<'task'>[]
  /** Children that run on by themselves, and of which the task hears nothing. */
  detached?: readonly Id<'task'>[]
  /** Tasks of whose ends this very result tells, so that nothing else needs to. */
  fetched?: readonly Id<'task'>[]
  /** The task that goes on in this one's place: this one completes with `content`. */
  handover?: Id<'task'>
  /** What a person is asked: their answer is what the model reads. */
  question?: Asked
}

/** A question to people, with answers to choose from if they like, and how long it waits. */
export type Asked = { text: string; options?: string[] | undefined; timeoutSeconds: number }

/** What came of a call, as its record holds it. */
export type ToolResult = {
  content: string
  data?: Json
  media?: Id<'media'>[]
  children?: Id<'task'>[]
  waitUntil?: string
  reports?: boolean
  isElsewhere?: boolean
  beside?: Id<'task'>[]
  detached?: Id<'task'>[]
  fetched?: Id<'task'>[]
  handover?: Id<'task'>
  question?: Asked
}

/** Stored with the result, what is no id would make its record one that can't be read. */
const References = z.object({
  media: z.array(idOf('media')).exactOptional(),
  children: z.array(idOf('task')).exactOptional(),
  waitUntil: z.iso.datetime().exactOptional(),
  reports: z.boolean().exactOptional(),
  isElsewhere: z.boolean().exactOptional(),
  beside: z.array(idOf('task')).exactOptional(),
  detached: z.array(idOf('task')).exactOptional(),
  fetched: z.array(idOf('task')).exactOptional(),
  handover: idOf('task').exactOptional(),
})

export const Asked = z.object({
  text: z.string(),
  options: z.array(z.string()).optional(),
  timeoutSeconds: z.number(),
})

const RESULT = Symbol.for('espalier.result')

/** Returned from `execute` where the model's answer is not all that there is to say. */
export const result = (value: Result): Result =>
  Object.defineProperty({ ...value }, RESULT, { value: true })

/** What the model reads where an operation returns nothing. */
export const NO_RESULT = 'No result returned.'

/** Where bytes go, and how their asset is called, if they became one. */
export type Keeper = (bytes: Blob) => Promise<{ json: Json; mediaId?: Id<'media'> }>

/**
 * Whatever `execute` returned as a result: plain values become the model's text, bytes go where
 * `keep` puts them. Throws what `serialize` throws, and INTERNAL where references are no ids.
 */
export const toResult = async (value: unknown, keep: Keeper): Promise<ToolResult> => {
  const made: Id<'media'>[] = []
  const keepBytes: KeepBytes = async bytes => {
    const { json, mediaId } = await keep(bytes)
    if (mediaId) made.push(mediaId)
    return json
  }
  const { content, data, media, question, ...said }: Result = isResult(value)
    ? value
    : { content: value }
  const text = toText(await serialize(content, keepBytes))
  const shown = data === undefined ? undefined : ((await serialize(data, keepBytes)) ?? null)
  const named: string[] = []
  for (const asset of media ?? []) {
    if (typeof asset === 'string') named.push(asset)
    else await serialize(asset, keepBytes)
  }
  const all = [...new Set([...named, ...made])]
  const references = References.safeParse({
    ...(all.length > 0 ? { media: all } : {}),
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
  })
  if (!references.success)
    throw new AppError('INTERNAL', 'The tool’s result names media or tasks by what is no id.')
  return {
    content: text,
    ...(shown === undefined ? {} : { data: shown }),
    ...references.data,
    ...(question === undefined ? {} : { question }),
  }
}

/** JSON as the model reads it: text as it is. */
export const toText = (json: Json | undefined): string => {
  if (json === undefined || json === null) return NO_RESULT
  return typeof json === 'string' ? json : JSON.stringify(json)
}

const isResult = (value: unknown): value is Result =>
  typeof value === 'object' && value !== null && RESULT in value
