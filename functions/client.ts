import type { Hono } from 'hono'
import { type ClientResponse, hc } from 'hono/client'
import type { ClientSchema, ErrorAnswer } from '../lib/http/client-schema.ts'
import type { resources } from './admin/index.ts'

type Resource = Awaited<ReturnType<(typeof resources)[keyof typeof resources]>>
type EndpointsOf<Each> = Each extends { endpoints: infer All } ? (value: All) => void : never
type AllEndpoints = EndpointsOf<Resource> extends (value: infer All) => void ? All : never

/** The API as Hono's client knows it: nothing of it is loaded, its types say it all. */
export type Api = Hono<object, ClientSchema<AllEndpoints>, '/'>

/**
 * A typed client of the API for one key: `client.api.v1.agents.$get()`. Paths, parameters, bodies
 * and answers are those that the routes declare. `fetch` makes the requests in place of the global
 * one.
 */
export const createClient = (
  url: string,
  key: string,
  { fetch = globalThis.fetch }: { fetch?: typeof globalThis.fetch } = {},
) => hc<Api>(url, { headers: { authorization: `Bearer ${key}` }, fetch })

/** An answer that is an error, with the envelope's code and details. */
export class ApiError extends Error {
  readonly status: number
  readonly code: ErrorAnswer['error']['code']
  readonly details: unknown

  constructor(status: number, { code, message, details }: ErrorAnswer['error']) {
    super(`${code}: ${message}`)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.details = details
  }
}

type DataOf<Response> =
  Response extends ClientResponse<infer Body, number, string>
    ? Body extends { data: infer Data }
      ? Data
      : never
    : never

/** The data of an answer; an error is thrown as ApiError. */
export const dataOf = async <Response extends { status: number; json(): Promise<unknown> }>(
  pending: Promise<Response>,
): Promise<DataOf<Response>> => {
  const response = await pending
  const body = (await response.json()) as { data: DataOf<Response> } | ErrorAnswer
  if ('error' in body) throw new ApiError(response.status, body.error)
  return body.data
}
