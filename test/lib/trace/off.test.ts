import path from 'node:path'
import { build, type Metafile } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'

const ROOT = path.join(import.meta.dirname, '../../..')
const { functions } = await routeTable()
const modules = [...new Set(functions.map(({ module }) => module))]

/** All functions as a deploy bundles them: what is imported when it is used is a file of its own. */
const bundle = async (define: Record<string, string>): Promise<Metafile> => {
  const { metafile } = await build({
    entryPoints: modules.map(module => path.join(ROOT, 'functions', `${module}.ts`)),
    bundle: true,
    minify: true,
    splitting: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    outdir: 'out',
    packages: 'external',
    absWorkingDir: ROOT,
    define,
  })
  return metafile
}

/** What makes spans and sends them; all else only looks whether it is wanted. */
const isTracing = (file: string): boolean =>
  file.startsWith('lib/trace/') && !file.endsWith('/tracing.ts')

/** The files that are loaded with an output, before anything is asked of it. */
const loadedWith = (
  { outputs }: Metafile,
  output: string,
  seen = new Set<string>(),
): Set<string> => {
  if (seen.has(output)) return seen
  seen.add(output)
  for (const { path: next, kind, external } of outputs[output]?.imports ?? [])
    if (kind === 'import-statement' && !external) loadedWith({ outputs } as Metafile, next, seen)
  return seen
}

describe('tracing', () => {
  it('is loaded with no function: what tells of spans waits to be asked for', async () => {
    const metafile = await bundle({})
    const tracing = Object.entries(metafile.outputs).filter(([, { inputs }]) =>
      Object.keys(inputs).some(isTracing),
    )
    expect(tracing.length).toBeGreaterThan(0)
    const sources = modules.map(module => `functions/${module}.ts`)
    const entries = Object.keys(metafile.outputs).filter(output =>
      sources.includes(metafile.outputs[output]?.entryPoint ?? ''),
    )
    expect(entries).toHaveLength(modules.length)
    for (const entry of entries) {
      const loaded = loadedWith(metafile, entry)
      expect(tracing.filter(([output]) => loaded.has(output)).map(([output]) => output)).toEqual([])
    }
  })

  it('is in no bundle of a deployment without it', async () => {
    const { outputs } = await bundle({ 'process.env.OTEL_EXPORTER_OTLP_ENDPOINT': 'undefined' })
    const files = Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
        bytesInOutput > 0 ? file : [],
      ),
    )
    expect(files).toContain('lib/workflow/tick.ts')
    expect(files.filter(isTracing)).toEqual([])
  })
})
