import path from 'node:path'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const ROOT = path.join(import.meta.dirname, '../../..')

/** The files that a bundle's entry loads when it starts, without what it only loads later. */
const startingFiles = async (entry: string): Promise<string[]> => {
  const { metafile } = await build({
    entryPoints: { index: entry },
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    outdir: 'out',
    mainFields: ['module', 'main'],
    conditions: ['module'],
    absWorkingDir: ROOT,
  })
  const { outputs } = metafile
  const seen = new Set<string>()
  const visit = (file: string): string[] => {
    const output = outputs[file]
    if (!output || seen.has(file)) return []
    seen.add(file)
    const next = output.imports.filter(({ kind }) => kind === 'import-statement')
    return [...Object.keys(output.inputs), ...next.flatMap(({ path }) => visit(path))]
  }
  return visit('out/index.js')
}

it('a function that fetches nothing loads two lines of what it could fetch with', async () => {
  expect(await startingFiles('lib/web/guarded-fetch.ts')).toEqual(['lib/web/guarded-fetch.ts'])
})

it('read_url starts without what it reads with', async () => {
  const files = await startingFiles('functions/tools/read-url.ts')
  const web = files.filter(file => file.startsWith('lib/web/'))
  expect(web.filter(file => file !== 'lib/web/guarded-fetch.ts')).toEqual([])
  expect(
    files.filter(file => /linkedom|htmlparser2|readability|turndown|unpdf/.test(file)),
  ).toEqual([])
})
