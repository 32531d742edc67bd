import * as z from 'zod'
import { hasToJson } from '../core/canonical-json.ts'
import { AppError } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'

/** What JSON can hold: what people see of a result, and what rows keep. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** What came of a call, beyond the plain value that most tools return. */
export type ToolResult = {
  /** What the model reads. */
  content: string
  /** What people see; it never goes to a model. */
  data?: Json
  /** The media assets that the call made. */
  media?: Id<'media'>[]
  /** The tasks whose ends the model's answer waits for. */
  children?: Id<'task'>[]
  /** The task that goes on in this one's place: this one completes with `content`. */
  handover?: Id<'task'>
}

/** Stored with the result, what is no id would make its record one that can't be read. */
const References = z.object({
  media: z.array(idOf('media')).optional(),
  children: z.array(idOf('task')).optional(),
  handover: idOf('task').optional(),
})

const RESULT = Symbol.for('espalier.result')

/** Returned from `execute` where the model's answer is not all that there is to say. */
export const result = (value: Omit<ToolResult, 'content'> & { content: unknown }): ToolResult =>
  Object.defineProperty({ ...value, content: toText(value.content) }, RESULT, { value: true })

/** What the model reads where an operation returns nothing. */
export const NO_RESULT = 'No result returned.'

/** Whatever `execute` returned as a result: plain values become the model's text. */
export const toResult = (value: unknown): ToolResult => {
  if (isResult(value)) {
    const { content, data, media, children, handover } = value
    const references = References.safeParse({ media, children, handover })
    if (!references.success)
      throw new AppError('INTERNAL', 'The tool’s result names media or tasks by what is no id.')
    return {
      content,
      ...(data === undefined ? {} : { data: toJson(data) }),
      ...(media ? { media } : {}),
      ...(children ? { children } : {}),
      ...(handover ? { handover } : {}),
    }
  }
  return { content: toText(value) }
}

/** A value as the model reads it: text as it is, everything else by one table. */
export const toText = (value: unknown): string => {
  if (value === null || value === undefined) return NO_RESULT
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value)
  if (value instanceof Uint8Array)
    return `The tool returned ${value.byteLength} bytes, which can’t be read as text. Its result should be text, or name a media asset.`
  if (hasToJson(value)) return toText(value.toJSON())
  return JSON.stringify(value, replace) ?? NO_RESULT
}

const isResult = (value: unknown): value is ToolResult =>
  typeof value === 'object' && value !== null && RESULT in value

const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value, replace) ?? 'null')

/** JSON has no big integers; their digits as text lose nothing. */
const replace = (_key: string, value: unknown) =>
  typeof value === 'bigint' ? value.toString() : value
