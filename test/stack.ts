import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { routeTable } from '../functions/routes.ts'
import { type LogEntry, setLogSink } from '../lib/core/log.ts'
import { type Stack, type StackOptions, startStack } from '../lib/local/stack.ts'
import { loadFunction } from '../scripts/load-function.ts'
import { createConformance, currentDocument } from './openapi.ts'

export type Answer = {
  status: number
  headers: Headers
  text: string
  // What a test looks into is what it expects to find there.
  body: { data?: unknown; error?: { code: string; message: string; details?: unknown } }
}

export type TestStack = Stack & {
  directory: string
  adminKey: string
  logs: LogEntry[]
  /**
   * One request, as the admin unless a key (or none, as null) is given. Whatever is answered must be
   * what the OpenAPI document says of its route.
   */
  request: (
    method: string,
    path: string,
    options?: { body?: unknown; key?: string | null; headers?: Record<string, string> },
  ) => Promise<Answer>
}

/** The whole platform for a test file, on data of its own; `stop` removes it. */
export const startTestStack = async (
  options: Partial<StackOptions> = {},
): Promise<TestStack & { stop: () => Promise<void> }> => {
  const directory = options.directory ?? (await mkdtemp(path.join(tmpdir(), 'espalier-test-')))
  const logs: LogEntry[] = []
  setLogSink(entry => logs.push(entry))
  const adminKey = 'an-admin-key-for-tests'
  const stack = await startStack({
    table: await routeTable(),
    load: loadFunction,
    directory,
    adminKey,
    ...options,
  })
  // Made with the first request, when a test's own tools are there.
  let conforms: Promise<ReturnType<typeof createConformance>> | undefined
  const request: TestStack['request'] = async (method, where, { body, key, headers } = {}) => {
    const response = await fetch(`${stack.url}${where}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key ?? adminKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status, headers: received } = response
    conforms ??= currentDocument().then(createConformance)
    ;(await conforms)(method, where, { status, headers: received, text })
    return { status, headers: received, text, body: parse(text) }
  }
  return {
    ...stack,
    directory,
    adminKey,
    logs,
    request,
    stop: async () => {
      await stack.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const parse = (text: string): Answer['body'] => {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
