import { existsSync } from 'node:fs'
import { cp, mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { type BuildOptions, build, type Message } from 'esbuild'
import { replaceFiles } from './replace-files.ts'

/** What SST's components ask its builder for. */
export type BuildInput = {
  functionID: string
  handler: string
  bundle?: string
  runtime: string
  properties?: {
    minify?: boolean
    splitting?: boolean
    sourcemap?: boolean
    banner?: string
    loader?: BuildOptions['loader']
    install?: Record<string, string>
    /** Of esbuild's options it reads these alone. */
    esbuild?: Pick<
      BuildOptions,
      | 'target'
      | 'sourcemap'
      | 'keepNames'
      | 'define'
      | 'external'
      | 'nodePaths'
      | 'mainFields'
      | 'conditions'
    >
  }
}

export type Built = { handler: string; out: string; errors: string[]; sourcemaps: string[] }

type Place = { root: string; work: string; replaced: Record<string, string> }

const EXTENSIONS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs']
const TARGETS: Record<string, string> = { 'nodejs24.x': 'es2024', 'nodejs22.x': 'es2023' }
const BANNER = [
  `import { createRequire as topLevelCreateRequire } from 'module'`,
  `const require = topLevelCreateRequire(import.meta.url)`,
  `import { fileURLToPath as topLevelFileUrlToPath, URL as topLevelURL } from "url"`,
  `const __filename = topLevelFileUrlToPath(import.meta.url)`,
  `const __dirname = topLevelFileUrlToPath(new topLevelURL(".", import.meta.url))`,
]

/**
 * Bundles a function as SST's builder does (`pkg/runtime/node/build.go` in github:anomalyco/sst), and
 * also sees that the handler is exported, which otherwise Lambda is the first to see. What several
 * functions share is bundled once.
 */
export const createBuilder = (place: Place) => {
  const known = new Map<string, Promise<Built>>()
  return async (input: BuildInput): Promise<Built> => {
    const out = path.join(place.work, 'artifacts', `${input.functionID}-src`)
    const key = JSON.stringify([input.handler, input.runtime, input.properties])
    const same = known.get(key)
    if (!same) {
      const building = bundle(input, { ...place, out })
      known.set(key, building)
      return building
    }
    const built = await same
    await cp(built.out, out, { recursive: true })
    const sourcemaps = built.sourcemaps.map(file => path.join(out, path.basename(file)))
    return { ...built, out, sourcemaps }
  }
}

const bundle = async (
  { handler, runtime, properties = {} }: BuildInput,
  { root, out, replaced }: Place & { out: string },
): Promise<Built> => {
  const file = handlerFile(root, handler)
  if (!file) throw new Error(`Handler not found: ${handler}`)
  await rm(out, { recursive: true, force: true })
  await mkdir(out, { recursive: true })
  const { esbuild = {}, minify = false, splitting = false } = properties
  const exported = path.extname(handler).slice(1)
  const { errors, outputs } = await attempt({
    entryPoints: [file],
    absWorkingDir: root,
    platform: 'node',
    format: 'esm',
    bundle: true,
    metafile: true,
    target: esbuild.target ?? TARGETS[runtime] ?? 'esnext',
    external: [
      'sharp',
      'pg-native',
      ...Object.keys(properties.install ?? {}),
      ...(esbuild.external ?? []),
    ],
    mainFields: esbuild.mainFields ?? ['module', 'main'],
    keepNames: esbuild.keepNames ?? true,
    sourcemap: esbuild.sourcemap ?? 'linked',
    minify,
    splitting,
    banner: { js: [...BANNER, properties.banner ?? ''].join('\n') },
    ...(splitting
      ? { outdir: out, entryNames: 'bundle', outExtension: { '.js': '.mjs' } }
      : { outfile: path.join(out, 'bundle.mjs') }),
    ...(esbuild.conditions ? { conditions: esbuild.conditions } : {}),
    ...(esbuild.nodePaths ? { nodePaths: esbuild.nodePaths } : {}),
    ...(esbuild.define ? { define: esbuild.define } : {}),
    ...(properties.loader ? { loader: properties.loader } : {}),
    logLevel: 'silent',
    plugins: [replaceFiles(root, replaced)],
  })
  // What is imported when it is used is an entry of its own.
  const relative = path.relative(root, file)
  const entry = Object.values(outputs).find(({ entryPoint }) => entryPoint === relative)
  const isExported = entry === undefined || entry.exports.includes(exported)
  return {
    handler: `bundle.${exported}`,
    out,
    errors: isExported ? errors : [`${handler}: the module exports no "${exported}".`],
    sourcemaps:
      properties.sourcemap === undefined
        ? Object.keys(outputs)
            .filter(name => name.endsWith('.map'))
            .map(name => path.resolve(root, name))
        : [],
  }
}

const attempt = async (options: BuildOptions) => {
  try {
    const { metafile } = await build(options)
    return { errors: [], outputs: metafile?.outputs ?? {} }
  } catch (error) {
    const { errors } = error as { errors?: Message[] }
    if (!errors) throw error
    return { errors: errors.map(textOf), outputs: {} }
  }
}

const textOf = ({ text, location }: Message): string =>
  location ? `${text} ${location.file}:${location.line}:${location.column}` : text

/** The file that `path/to/file.handler` means, or undefined. */
export const handlerFile = (root: string, handler: string): string | undefined => {
  const base = path.resolve(root, handler.slice(0, -path.extname(handler).length))
  return EXTENSIONS.map(extension => base + extension).find(existsSync)
}
