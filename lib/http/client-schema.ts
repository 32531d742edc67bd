import type { BlankInput } from 'hono/types'
import type * as z from 'zod'
import type { ErrorCode } from '../core/errors.ts'
import type { Declaration, Endpoint } from './endpoint.ts'

// What Hono's client (`hc`) is told of the API, from the declarations of its routes.

/** Every error in its envelope. */
export type ErrorAnswer = { error: { code: ErrorCode; message: string; details?: unknown } }

/** The statuses of refusals, as far as a client tells them apart from answers. */
type Refused = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 422 | 428 | 429 | 500 | 502

/** `/agents/{id}` as Hono writes it. */
type HonoPath<Path extends string> = Path extends `${infer Head}{${infer Name}}${infer Rest}`
  ? `${Head}:${Name}${HonoPath<Rest>}`
  : Path

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

type Input<D extends Declaration> = ([NamesIn<D['path']>] extends [never]
  ? BlankInput
  : { param: Record<NamesIn<D['path']>, string> }) &
  (D['body'] extends z.ZodType ? { json: z.input<D['body']> } : BlankInput) &
  Query<D> &
  (D['isRepeatable'] extends true ? { header?: { 'idempotency-key': string } } : BlankInput)

type Query<D extends Declaration> = D['query'] extends z.ZodObject
  ? { query?: z.input<D['query']> & (D['isPaged'] extends true ? Paging : unknown) }
  : D['isPaged'] extends true
    ? { query?: Paging }
    : BlankInput

type Paging = { limit?: string; cursor?: string }

type Answered<D extends Declaration, Status> = Status extends keyof D['responses']
  ? D['responses'][Status] extends z.ZodType
    ? {
        input: Input<D>
        output: { data: z.output<D['responses'][Status]> } & (D['isPaged'] extends true
          ? { next_cursor: string | null }
          : unknown)
        outputFormat: 'json'
        status: Status
      }
    : { input: Input<D>; output: string; outputFormat: 'text'; status: Status }
  : never

type Method<D extends Declaration> =
  | Answered<D, keyof D['responses']>
  | { input: Input<D>; output: ErrorAnswer; outputFormat: 'json'; status: Refused }

type Route<E> =
  E extends Endpoint<infer D>
    ? { [Path in HonoPath<D['path']>]: { [Name in `$${Lowercase<D['method']>}`]: Method<D> } }
    : never

type Merged<Union> = (Union extends unknown ? (value: Union) => void : never) extends (
  value: infer Whole,
) => void
  ? Whole
  : never

/** One object type in place of an intersection of many. */
type Flat<Type> = { [Key in keyof Type]: Type[Key] }

/** All endpoints as a schema of Hono's. */
export type ClientSchema<All> = Flat<Merged<Route<All[keyof All]>>>
