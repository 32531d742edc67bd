import path from 'node:path'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'

const ROOT = path.join(import.meta.dirname, '../../..')
const { functions } = await routeTable()
const modules = [...new Set(functions.map(({ module }) => module))]

/** The files that a function's bundle is made of. */
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
  })
  return Object.values(metafile.outputs).flatMap(output =>
    Object.entries(output.inputs).flatMap(([file, { bytesInOutput }]) =>
      bytesInOutput > 0 ? file : [],
    ),
  )
}

// The tick has the providers' packages, which import zod in a way that takes all of it along.
it.each(modules.filter(module => module !== 'workflow/tick'))(
  '%s takes no languages of zod along, which weigh four times the rest of it',
  async module => {
    const locales = (await filesOf(module)).filter(file => file.includes('zod/v4/locales/'))
    expect(locales.filter(file => !/\/(en|index)\.js$/.test(file))).toEqual([])
  },
)
