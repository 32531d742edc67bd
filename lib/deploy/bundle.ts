import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import type { RouteTable } from '../http/route-table.ts'
import { type Deployed, leaveOut } from './leave-out.ts'
import { BUNDLE_ENTRY } from './prepare-bundles.ts'

/** A part of a bundle by where it comes from, a package or a folder of ours, and its bytes. */
export type Part = { from: string; bytes: number }

export type Bundle = {
  /** All files, in bytes. */
  bytes: number
  /** What is read whatever the function does: the entry, and what it imports on its way. */
  startBytes: number
  /** What weighs most of it, the heaviest first. */
  parts: Part[]
  /** The files of ours and of packages that are in it, relative to the project. */
  inputs: string[]
  /** What its entry exports. */
  exports: string[]
  /** What it can ask AWS for, as a role's actions: `dynamodb:GetItem`. */
  actions: string[]
}

const ROOT = path.join(import.meta.dirname, '../..')

/** The modules of a table, each with its functions: they share a bundle. */
export const deployedModules = ({ functions }: Pick<RouteTable, 'functions'>): Deployed[] =>
  [...Map.groupBy(functions, ({ module }) => module)].map(([module, functions]) => ({
    module,
    functions,
  }))

/**
 * Bundles a module as it is deployed, into a folder of its own. Throws esbuild's error, which says
 * where, for a module that doesn't bundle.
 */
export const bundle = (deployed: Deployed, outdir: string): Promise<Bundle> =>
  bundleFile(path.join(ROOT, 'functions', `${deployed.module}.ts`), outdir, [
    leaveOut(ROOT, deployed),
    ready,
  ])

/** Bundles any file in the way that functions are. */
export const bundleFile = async (
  entry: string,
  outdir: string,
  plugins: readonly Plugin[] = [],
): Promise<Bundle> => {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { [BUNDLE_ENTRY]: entry },
    outdir,
    bundle: true,
    minify: true,
    // What is imported when it is used stays in files of its own, which a start does not read.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    outExtension: { '.js': '.mjs' },
    // A package's own modules, of which what nobody uses falls away.
    mainFields: ['module', 'main'],
    conditions: ['module'],
    banner: { js: REQUIRE },
    metafile: true,
    logLevel: 'silent',
    plugins: [zodByName, ...plugins],
    define: definitions(),
  })
  const files = filesOf(metafile)
  const left = Object.keys(metafile.outputs).filter(file => !files.all.has(file))
  await Promise.all(left.map(file => rm(path.join(ROOT, file))))
  const texts = await Promise.all(
    [...files.all].map(file => readFile(path.join(ROOT, file), 'utf8')),
  )
  const inputs = inputsOf(metafile, files.all)
  const bytesOf = (some: Set<string>) =>
    [...some].reduce((sum, file) => sum + (metafile.outputs[file]?.bytes ?? 0), 0)
  return {
    bytes: bytesOf(files.all),
    startBytes: bytesOf(files.atStart),
    parts: partsOf(inputs),
    inputs: [...inputs.keys()],
    exports: metafile.outputs[files.entry]?.exports ?? [],
    actions: actionsOf(texts.join('\n'), inputs),
  }
}

/** Packages of the old kind ask for Node's modules by `require`. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/**
 * The drivers of models import zod's `z`, an object that holds all of it with its fifty languages;
 * by its names it is what they use.
 */
const zodByName: Plugin = {
  name: 'zod-by-name',
  setup: ({ onLoad }) => {
    onLoad({ filter: /node_modules\/@ai-sdk\/[^/]+\/dist\/.*\.m?js$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, 'utf8')).replaceAll(
        ZOD_OBJECT,
        (_, name = 'z') => `import * as ${name} from "zod/v4"`,
      ),
      loader: 'js',
    }))
  },
}
const ZOD_OBJECT = /import \{ z(?: as (\w+))? \} from "zod\/v4"/g

/** The API's document is the same at every call: a bundle holds it, and not what makes it. */
const ready: Plugin = {
  name: 'ready',
  setup: ({ onLoad }) => {
    onLoad({ filter: /functions\/admin\/openapi\/build\.ts$/ }, async ({ path: file }) => {
      const { build } = (await import(file)) as { build: () => Promise<object> }
      return {
        contents: `export const build = async () => (${JSON.stringify(await build())})`,
        loader: 'js',
      }
    })
  },
}

/** Where a deploy traces nothing, what would trace is left out. */
const definitions = (): Record<string, string> =>
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT ? {} : { 'process.env.OTEL_EXPORTER_OTLP_ENDPOINT': '""' }

/**
 * The files that a bundle's entry comes to import, and those that it imports on its start. There are
 * others: of a module that is only imported by what nobody uses.
 */
const filesOf = ({
  outputs,
}: Metafile): { entry: string; all: Set<string>; atStart: Set<string> } => {
  const from = (file: string, isFollowed: (kind: string) => boolean, seen: Set<string>) => {
    if (seen.has(file)) return seen
    seen.add(file)
    for (const { path: next, kind, external } of outputs[file]?.imports ?? [])
      if (!external && isFollowed(kind)) from(next, isFollowed, seen)
    return seen
  }
  const [entry = ''] = Object.keys(outputs).filter(
    file => path.basename(file) === `${BUNDLE_ENTRY}.mjs`,
  )
  return {
    entry,
    all: from(entry, () => true, new Set()),
    atStart: from(entry, kind => kind === 'import-statement', new Set()),
  }
}

const inputsOf = ({ outputs }: Metafile, files: Set<string>): Map<string, number> => {
  const inputs = new Map<string, number>()
  for (const file of files)
    for (const [input, { bytesInOutput }] of Object.entries(outputs[file]?.inputs ?? {}))
      if (bytesInOutput > 0) inputs.set(input, (inputs.get(input) ?? 0) + bytesInOutput)
  return inputs
}

const partsOf = (inputs: Map<string, number>): Part[] => {
  const parts = new Map<string, number>()
  for (const [file, bytes] of inputs) {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(file) ?? []
    const from = name ?? file.split('/').slice(0, 2).join('/')
    parts.set(from, (parts.get(from) ?? 0) + bytes)
  }
  return [...parts].map(([from, bytes]) => ({ from, bytes })).toSorted((a, b) => b.bytes - a.bytes)
}

/**
 * Each command of `lib/aws` names its action in one text, and falls away where nobody uses it; a
 * URL that is presigned is followed by the rights of whoever made it.
 */
const actionsOf = (text: string, inputs: Map<string, number>): string[] => {
  const named = [...text.matchAll(/["'`]((?:dynamodb|s3|lambda|states|ses):[A-Z]\w+)["'`]/g)]
  const presigned = inputs.has('lib/data/presigned.ts') ? ['s3:GetObject'] : []
  return [...new Set([...named.map(([, action = '']) => action), ...presigned])].toSorted()
}
