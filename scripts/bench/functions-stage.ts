import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createClient, dataOf } from '../../functions/client.ts'
import { routeTable } from '../../functions/routes.ts'
import { setLogSink } from '../../lib/core/log.ts'
import { startStack } from '../../lib/local/stack.ts'
import { loadFunction } from '../load-function.ts'
import { bundle } from './bundle.ts'
import { measureIn } from './process.ts'

export type Sample = { importMs: number; callMs: number | null }
/** What is measured: a function's source, and the operation that it is asked to run first. */
export type Subject = { name: string; entry: string; call?: { path: string; body: unknown } }
export type Measured = { name: string; bytes: number; samples: Sample[] }

const CHILD = path.join(import.meta.dirname, 'child.ts')

/** What any function costs at least: one route, one schema, one read. */
export const BARE: Subject = {
  name: 'bare',
  entry: path.join(import.meta.dirname, 'bare.ts'),
  call: { path: '/api/v1/tools/time/operations/now', body: {} },
}

/**
 * Import and first call of functions as a deploy bundles them, in fresh processes that take
 * turns, against the local stack, with an agent that has these tools enabled.
 */
export const measureFunctions = async (
  subjects: Subject[],
  { tools, rounds }: { tools: string[]; rounds: number },
): Promise<Measured[]> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'espalier-bench-'))
  setLogSink(() => {})
  const stack = await startStack({ table: await routeTable(), load: loadFunction, directory })
  try {
    const key = await agentKey(createClient(stack.url, stack.newKey ?? ''), tools)
    const bundled = []
    for (const subject of subjects) {
      const { file, bytes } = await bundle(subject.entry, path.join(directory, subject.name))
      bundled.push({ ...subject, file, bytes, samples: [] as Sample[] })
    }
    for (let round = 0; round < rounds; round++)
      for (const { file, call, samples } of bundled)
        samples.push(await measureIn([CHILD, file, ...(call ? [eventOf(call, key)] : [])]))
    return bundled.map(({ name, bytes, samples }) => ({ name, bytes, samples }))
  } finally {
    await stack.close()
    await rm(directory, { recursive: true, force: true })
  }
}

const agentKey = async (
  client: ReturnType<typeof createClient>,
  tools: string[],
): Promise<string> => {
  const { agents } = client.api.v1
  const model = { provider: 'rehearsal', name: 'script' } as const
  const { id } = await dataOf(agents.$post({ json: { name: 'Bench', model } }))
  for (const tool of tools)
    await dataOf(agents[':id'].tools[':tool'].enable.$post({ param: { id, tool } }))
  const { key } = await dataOf(agents[':id'].keys.$post({ param: { id }, json: { name: 'Bench' } }))
  return key
}

const eventOf = ({ path, body }: { path: string; body: unknown }, key: string): string =>
  JSON.stringify({
    version: '2.0',
    routeKey: `POST ${path}`,
    rawPath: path,
    rawQueryString: '',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    requestContext: { http: { method: 'POST', path }, domainName: 'localhost' },
    body: JSON.stringify(body),
    isBase64Encoded: false,
  })
