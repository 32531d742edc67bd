import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { build, type Plugin } from 'esbuild'

// Puts `sst.config.ts` and SST's components into one module, as the CLI does before it hands it to
// Pulumi (`pkg/js/js.go` and `pkg/project/run.go` in github:anomalyco/sst).

/** What the CLI leaves outside: it is found beside the module, in the platform's packages. */
const EXTERNAL = [
  '@pulumi/*',
  '@pulumiverse/*',
  '@sst-provider/*',
  '@aws-sdk/*',
  'undici',
  'esbuild',
  'archiver',
  'glob',
  'vite',
]
const BANNER = [
  `import { createRequire as topLevelCreateRequire } from 'module'`,
  `import { fileURLToPath as topLevelFileUrlToPath, URL as topLevelURL } from 'url'`,
  `const require = topLevelCreateRequire(import.meta.url)`,
  `const __filename = topLevelFileUrlToPath(import.meta.url)`,
  `const __dirname = topLevelFileUrlToPath(new topLevelURL('.', import.meta.url))`,
].join('\n')

type Provider = { package: string; alias: string }

export const bundleConfig = async ({
  root,
  outfile,
  replaced,
}: {
  root: string
  outfile: string
  replaced: Record<string, string>
}): Promise<void> => {
  const platform = path.join(root, '.sst/platform')
  const lock = await readFile(path.join(root, '.sst/provider-lock.json'), 'utf8')
  const globals = [
    ...(JSON.parse(lock) as Provider[]).map(each => ({ name: each.alias, from: each.package })),
    { name: 'sst', from: path.join(platform, 'src/components') },
  ]
  await build({
    stdin: {
      contents: [
        `export { run } from ${JSON.stringify(path.join(platform, 'src/auto/run.ts'))}`,
        `export { default as config } from ${JSON.stringify(path.join(root, 'sst.config.ts'))}`,
      ].join('\n'),
      resolveDir: root,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    sourcemap: 'linked',
    nodePaths: [path.join(platform, 'node_modules')],
    inject: [path.join(platform, 'src/shim/run.js')],
    external: EXTERNAL,
    banner: { js: BANNER },
    logLevel: 'silent',
    plugins: [refuseImports(globals), withGlobals({ root, globals, replaced })],
  })
}

type Global = { name: string; from: string }

/** The CLI takes no import at the top of the config itself. */
const refuseImports = (globals: Global[]): Plugin => ({
  name: 'refuse-imports',
  setup: ({ onResolve }) => {
    onResolve({ filter: /.*/ }, ({ importer, kind, path: wanted }) => {
      const isTop = kind === 'import-statement' && path.basename(importer) === 'sst.config.ts'
      const isOurs = globals.some(({ from }) => from === wanted) || wanted.includes('/.sst/')
      if (!isTop || isOurs) return undefined
      return { errors: [{ text: `SST allows no import at the top of sst.config.ts: ${wanted}` }] }
    })
  },
})

/** `aws` and `sst` are there in every file but SST's own, in those of packages too. */
const withGlobals = ({
  root,
  globals,
  replaced,
}: {
  root: string
  globals: Global[]
  replaced: Record<string, string>
}): Plugin => ({
  name: 'with-globals',
  setup: ({ onLoad }) => {
    const lines = globals.map(({ name, from }) => `import * as ${name} from '${from}'\n`).join('')
    onLoad({ filter: /\.(js|ts|jsx|tsx)$/ }, async ({ path: file }) => {
      if (file.startsWith(path.join(root, '.sst') + path.sep)) return undefined
      const contents = replaced[path.relative(root, file)] ?? (await readFile(file, 'utf8'))
      return { contents: lines + contents, loader: 'default' }
    })
  },
})
