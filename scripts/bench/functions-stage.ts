import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Plugin } from 'esbuild'
import { createClient, dataOf } from '../../functions/client.ts'
import { routeTable } from '../../functions/routes.ts'
import { setLogSink } from '../../lib/core/log.ts'
import { type Bundle, bundle, bundleFile, deployedModules } from '../../lib/deploy/bundle.ts'
import { BUNDLE_ENTRY } from '../../lib/deploy/prepare-bundles.ts'
import type { RouteTable } from '../../lib/http/route-table.ts'
import { startStack } from '../../lib/local/stack.ts'
import { loadFunction } from '../load-function.ts'
import { measureIn } from './process.ts'

export type Sample = { importMs: number; callMs: number | null }
/** What the stage has for events to name. */
export type Stage = {
  adminKey: string
  key: string
  agentId: string
  taskId: string
  callId: string
}
/** What is measured: a function's module, or a file, and the event that it is handed first. */
export type Subject = {
  name: string
  entry: { module: string } | { file: string }
  event?: (stage: Stage) => object
  /** Which function it runs as: what runs stored calls looks whether it is theirs. */
  functionName?: string
}
/** Sizes are of the start, and of all files. */
export type Measured = { name: string; startBytes: number; bytes: number; samples: Sample[] }

const CHILD = path.join(import.meta.dirname, 'child.ts')

/** A request as an HTTP API hands it on. */
export const request =
  (
    method: string,
    path: string,
    { body, by = 'key' }: { body?: unknown; by?: 'key' | 'adminKey' } = {},
  ) =>
  (stage: Stage): object => ({
    version: '2.0',
    routeKey: `${method} ${path}`,
    rawPath: path,
    rawQueryString: '',
    headers: { authorization: `Bearer ${stage[by]}`, 'content-type': 'application/json' },
    requestContext: { http: { method, path }, domainName: 'localhost' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  })

/** What any function costs at least: one route, one schema, one read. */
export const BARE: Subject = {
  name: 'bare',
  entry: { file: path.join(import.meta.dirname, 'bare.ts') },
  event: request('POST', '/api/v1/tools/time/operations/now', { body: {} }),
}

/**
 * Import and first call of functions as a deploy bundles them, in fresh processes that take
 * turns, against the local stack, with an agent that has these tools enabled and has run a task.
 */
export const measureFunctions = async (
  subjects: Subject[],
  { tools, rounds }: { tools: string[]; rounds: number },
): Promise<Measured[]> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'espalier-bench-'))
  setLogSink(() => {})
  const table = await routeTable()
  const stack = await startStack({ table, load: loadFunction, directory })
  try {
    const adminKey = stack.newKey ?? ''
    const stage = { adminKey, ...(await prepare(createClient(stack.url, adminKey), tools)) }
    const bundled = []
    for (const { name, entry, event, functionName } of subjects) {
      const outdir = path.join(directory, 'bundles', String(bundled.length))
      const { startBytes, bytes } = await bundleOf(entry, table, outdir)
      const args = [CHILD, path.join(outdir, `${BUNDLE_ENTRY}.mjs`)]
      if (event) args.push(JSON.stringify(event(stage)), ...(functionName ? [functionName] : []))
      bundled.push({ name, startBytes, bytes, args, samples: [] as Sample[] })
    }
    for (let round = 0; round < rounds; round++)
      for (const { args, samples } of bundled) samples.push(await measureIn(args))
    return bundled.map(({ args: _, ...measured }) => measured)
  } finally {
    await stack.close()
    await rm(directory, { recursive: true, force: true })
  }
}

const bundleOf = (entry: Subject['entry'], table: RouteTable, outdir: string): Promise<Bundle> => {
  if ('file' in entry) return bundleFile(entry.file, outdir, [environmentCredentials])
  const deployed = deployedModules(table).find(({ module }) => module === entry.module)
  if (!deployed) throw new Error(`No function is deployed from ${entry.module}.`)
  return bundle(deployed, outdir)
}

/** The SDK at its lightest: it finds its keys in the environment, and looks for them nowhere else. */
const environmentCredentials: Plugin = {
  name: 'environment-credentials',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, () => ({
      path: path.join(import.meta.dirname, 'bare-credentials.ts'),
    }))
  },
}

const prepare = async (
  client: ReturnType<typeof createClient>,
  tools: string[],
): Promise<Omit<Stage, 'adminKey'>> => {
  const { agents, tasks } = client.api.v1
  const model = { provider: 'rehearsal', name: 'script' } as const
  const { id } = await dataOf(agents.$post({ json: { name: 'Bench', model } }))
  for (const tool of tools)
    await dataOf(agents[':id'].tools[':tool'].enable.$post({ param: { id, tool } }))
  const { key } = await dataOf(agents[':id'].keys.$post({ param: { id }, json: { name: 'Bench' } }))
  const task = await dataOf(tasks.$post({ json: { agent_id: id, prompt: '/time now {}' } }))
  for (;;) {
    const { status, tool_calls: calls } = await dataOf(
      tasks[':id'].$get({ param: { id: task.id } }),
    )
    if (status === 'COMPLETED')
      return { key, agentId: id, taskId: task.id, callId: calls[0]?.id ?? '' }
    await sleep(POLL_MS)
  }
}

const POLL_MS = 20
