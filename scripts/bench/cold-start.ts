import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { routeTable } from '../../functions/routes.ts'
import { setLogSink } from '../../lib/core/log.ts'
import { startStack } from '../../lib/local/stack.ts'
import { createClient } from '../demo/client.ts'
import { loadFunction } from '../load-function.ts'

// Import and first call of one operation's function beside the bare libraries, in alternating
// fresh processes of one run: only the ratio counts.

const RUNS = Number(process.argv[2] ?? 15)
const ROUTE = '/api/v1/tools/time/operations/now'
const CHILD = path.join(import.meta.dirname, 'child.ts')

type Sample = { importMs: number; callMs: number }

/** Bundles as a deploy does; returns the entry's file, and the bytes of all files together. */
const bundle = async (entry: string, outdir: string): Promise<{ file: string; bytes: number }> => {
  await build({
    entryPoints: { index: entry },
    outdir,
    splitting: true,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    conditions: ['module'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  const files = (await readdir(outdir)).map(name => path.join(outdir, name))
  const sizes = await Promise.all(files.map(async file => (await stat(file)).size))
  return {
    file: path.join(outdir, 'index.mjs'),
    bytes: sizes.reduce((total, size) => total + size, 0),
  }
}

const measure = async (file: string, event: unknown): Promise<Sample> => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    CHILD,
    file,
    JSON.stringify(event),
  ])
  const lines = stdout.trim().split('\n')
  return JSON.parse(lines.at(-1) ?? '{}')
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const directory = await mkdtemp(path.join(tmpdir(), 'espalier-bench-'))
setLogSink(() => {})
const stack = await startStack({ table: await routeTable(), load: loadFunction, directory })
try {
  const client = createClient(stack.url, stack.newKey ?? '')
  const agent = await client.send<{ id: string }>('POST', '/api/v1/agents', {
    name: 'Bench',
    model: { provider: 'rehearsal', name: 'script' },
  })
  await client.send('POST', `/api/v1/agents/${agent.id}/tools/time/enable`)
  const { key } = await client.send<{ key: string }>('POST', `/api/v1/agents/${agent.id}/keys`, {
    name: 'Bench',
  })
  const event = {
    version: '2.0',
    routeKey: `POST ${ROUTE}`,
    rawPath: ROUTE,
    rawQueryString: '',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    requestContext: { http: { method: 'POST', path: ROUTE }, domainName: 'localhost' },
    body: '{}',
    isBase64Encoded: false,
  }
  const subjects = {
    bare: path.join(import.meta.dirname, 'bare.ts'),
    'time now': path.join(import.meta.dirname, '../../functions/tools/time.ts'),
  }
  const results: Record<string, { file: string; bytes: number; samples: Sample[] }> = {}
  for (const [name, entry] of Object.entries(subjects))
    results[name] = { ...(await bundle(entry, path.join(directory, name))), samples: [] }
  for (let run = 0; run < RUNS; run++)
    for (const { file, samples } of Object.values(results)) samples.push(await measure(file, event))
  const totals = Object.entries(results).map(([name, { bytes, samples }]) => {
    const importMs = median(samples.map(sample => sample.importMs))
    const callMs = median(samples.map(sample => sample.callMs))
    const totalMs = median(samples.map(sample => sample.importMs + sample.callMs))
    process.stdout.write(
      `${name.padEnd(10)} ${(bytes / 1024).toFixed(0).padStart(5)} KiB  import ${importMs.toFixed(0).padStart(4)} ms  first call ${callMs.toFixed(0).padStart(4)} ms  together ${totalMs.toFixed(0).padStart(4)} ms\n`,
    )
    return totalMs
  })
  process.stdout.write(
    `ratio ${((totals[1] ?? 0) / (totals[0] ?? 1)).toFixed(2)} over ${RUNS} runs each\n`,
  )
} finally {
  await stack.close()
  await rm(directory, { recursive: true, force: true })
}
