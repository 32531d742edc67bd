import path from 'node:path'
import { build, type Plugin } from 'esbuild'
import { expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'

const ROOT = path.join(import.meta.dirname, '../../..')
const { functions } = await routeTable()
const modules = [...new Set(functions.map(({ module }) => module))]

/** Zod alone is looked into: of all packages only the drivers of models have it, too. */
const zodAlone: Plugin = {
  name: 'zod-alone',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || /^zod($|\/)/.test(path) ? undefined : { path, external: true },
    )
  },
}

/** The files that a function's bundle is made of, but for other packages. */
const filesOf = async (module: string): Promise<string[]> => {
  const { metafile } = await build({
    entryPoints: [path.join(ROOT, 'functions', `${module}.ts`)],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    outfile: 'bundle.mjs',
    mainFields: ['module', 'main'],
    conditions: ['module'],
    absWorkingDir: ROOT,
    plugins: [zodAlone],
  })
  return Object.values(metafile.outputs).flatMap(output =>
    Object.entries(output.inputs).flatMap(([file, { bytesInOutput }]) =>
      bytesInOutput > 0 ? file : [],
    ),
  )
}

it.each(modules)(
  '%s takes no languages of zod along, which weigh four times the rest of it',
  async module => {
    const locales = (await filesOf(module)).filter(file => file.includes('zod/v4/locales/'))
    expect(locales.filter(file => !/\/(en|index)\.js$/.test(file))).toEqual([])
  },
)
