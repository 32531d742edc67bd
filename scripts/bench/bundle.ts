import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { build } from 'esbuild'

/** Bundles as a deploy does; returns the entry's file, and the bytes of all files together. */
export const bundle = async (
  entry: string,
  outdir: string,
): Promise<{ file: string; bytes: number }> => {
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
