import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type * as z from 'zod'
import { AppError, type ErrorCode, notFound } from '../core/errors.ts'
import type { Caller } from '../principal/caller.ts'
import type { Access, Parsed, PathSchemas } from './access.ts'
import type { Env } from './app.ts'
import { nameSubject } from './name-subject.ts'
import { idempotencyKey, type Page, readBody, readPage, readQuery } from './request.ts'
import { credentialOf } from './session.ts'
import type { Tag } from './tags.ts'
import { readVersion } from './version.ts'

/** An answer that is no JSON of ours, such as a redirect: its handler makes the Response. */
export type Raw = {
  description: string
  /** The media types that a body may have; absent, there is no body. */
  types?: readonly string[]
  /** What its headers say, by name. */
  headers?: Record<string, string>
}

/** All there is to say of a route: it serves the requests, and it is what the document says. */
export type Declaration = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters in braces, as API Gateway writes them. */
  path: `/${string}`
  tag: Tag
  /** One line, as a command. */
  summary: string
  description?: string
  access: Access
  /** Parameters of the path beside those that the access rule names. */
  params?: PathSchemas
  query?: z.ZodObject
  /** Takes `limit` and `cursor`, and answers with `next_cursor`. */
  isPaged?: true
  /** Takes an Idempotency-Key. */
  isRepeatable?: true
  /** Takes If-Match: the version of the subject that a change is meant for. */
  ifMatch?: 'optional' | 'required'
  /** Answers HEAD as well, without a body. */
  hasHead?: true
  body?: z.ZodType
  /** Each status with the schema of its data. */
  responses: { readonly [status: number]: z.ZodType | Raw }
  /** Codes of refusals beside those that follow from the rest of the declaration. */
  errors?: readonly ErrorCode[]
}

/** The schemas that a declaration names; a type that only says what they would be names none. */
type Named<Schemas> = Schemas extends PathSchemas
  ? string extends keyof Schemas
    ? unknown
    : Schemas
  : unknown
type ParamsOf<D extends Declaration> = Parsed<
  Named<NonNullable<D['params']>> & Named<NonNullable<D['access']['params']>>
>
type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** What a handler gets: checked, in the order in which it stands here. */
export type Asked<D extends Declaration> = {
  context: Context<Env>
  /** Undefined on a public route. */
  caller: D['access'] extends { authenticate: unknown } ? Caller : undefined
  params: ParamsOf<D>
  /** What the access rule found. */
  subject: Awaited<ReturnType<D['access']['find']>>
  query: OutputOf<D['query']>
  page: D['isPaged'] extends true ? Page : undefined
  body: OutputOf<D['body']>
  idempotencyKey: string | undefined
  /** The version that If-Match names; undefined where it names none, or any. */
  version: number | undefined
}

type DataOf<Schema extends z.ZodType> = z.input<Schema> | Readonly<z.input<Schema>>

/** What a handler may answer: a declared status with data of its schema. */
export type Answer<D extends Declaration> = {
  [Status in keyof D['responses']]: D['responses'][Status] extends z.ZodType
    ? { status: Status; data: DataOf<D['responses'][Status]> } & (D['isPaged'] extends true
        ? { next_cursor: string | null }
        : unknown)
    : Response
}[keyof D['responses']]

/** An answer with data. */
export const reply = <Status extends number, const Data>(status: Status, data: Data) => ({
  status,
  data,
})

/** One page of a list; without a cursor it is the last. */
export const replyPage = <Item>(data: Item[], cursor: string | undefined) => ({
  ...reply(200, data),
  next_cursor: cursor ?? null,
})

/** A declaration with what answers its requests; the type keeps the whole of it. */
export type Endpoint<D extends Declaration = Declaration> = D & {
  answer: (context: Context<Env>) => Promise<Response>
}

/** A resource's endpoints; each name is an operation's id in the document. */
export type Endpoints = Record<string, Endpoint>

/** Declares a route and says how it is answered. Throws INVALID_DEFINITION as it loads. */
export const endpoint = <const D extends Declaration>(
  declaration: D,
  handle: (asked: Asked<D>) => Answer<D> | Promise<Answer<D>>,
): Endpoint<D> => {
  checkParameters(declaration)
  return {
    ...declaration,
    answer: async context => {
      const answer: unknown = await handle(await readRequest(context, declaration))
      if (answer instanceof Response) return answer
      const { status, ...body } = answer as { status: ContentfulStatusCode }
      return context.json(body, status)
    },
  }
}

/**
 * Who asks is proved first, then whether what the path names is theirs, and only then is the rest
 * of the request read: who may not come in is told nothing about it.
 */
const readRequest = async <D extends Declaration>(
  context: Context<Env>,
  declaration: D,
): Promise<Asked<D>> => {
  const { access, query, body, isPaged, isRepeatable, ifMatch }: Declaration = declaration
  const caller = await access.authenticate?.(credentialOf(context))
  const params = readParams(context, declaration)
  // A public rule's find takes no caller.
  const subject = await access.find({ caller: caller as Caller, params })
  await nameSubject(subject, params)
  return {
    context,
    caller,
    params,
    subject,
    query: query && readQuery(context, query),
    page: isPaged && readPage(context),
    body: body && (await readBody(context, body)),
    idempotencyKey: isRepeatable && idempotencyKey(context),
    version: ifMatch && readVersion(context, ifMatch),
  } as Asked<D>
}

/** The path's parameters, by name, with their schemas. */
export const pathSchemas = ({ access, params }: Declaration): PathSchemas => ({
  ...access.params,
  ...params,
})

/** A parameter of another shape names nothing, so it is NOT_FOUND. */
const readParams = (context: Context<Env>, declaration: Declaration): Record<string, string> =>
  Object.fromEntries(
    Object.entries(pathSchemas(declaration)).map(([name, schema]) => {
      const text = context.req.param(name) ?? ''
      const parsed = schema.safeParse(text)
      if (!parsed.success) throw notFound(declaration.access.what ?? name, text)
      return [name, parsed.data]
    }),
  )

const checkParameters = (declaration: Declaration): void => {
  const { method, path } = declaration
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted()
  const declared = Object.keys(pathSchemas(declaration)).toSorted()
  if (inPath.join() === declared.join()) return
  throw new AppError(
    'INVALID_DEFINITION',
    `${method} ${path} declares the path parameters "${declared}": make them those of its path.`,
  )
}
