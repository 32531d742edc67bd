import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { BOOTSTRAP } from './account.ts'
import { createBuilds } from './builds.ts'
import { bundleConfig } from './bundle-config.ts'
import { startCliServer } from './cli-server.ts'
import { createRecorder, type Mocks, type Seen } from './recorder.ts'
import { unwrap } from './secret-values.ts'
import type { Request, Synthesis } from './synthesis.ts'

// One evaluation of `sst.config.ts`, in a process of its own: the program has ended when the event
// loop has nothing left to do, since SST registers most in callbacks that no promise covers.
// Called with three paths: the root, a folder to work in, the module to put the config in.

type App = Synthesis['app'] & { providers?: Record<string, unknown> }
type Pulumi = {
  runtime: {
    setMocks: (mocks: Mocks, project: string, stack: string) => Promise<void>
    runInPulumiStack: (program: () => Promise<unknown>) => Promise<unknown>
    registerStackTransformation: (transformation: (seen: Seen) => undefined) => void
    serializeProperties: (label: string, properties: unknown) => Promise<Record<string, unknown>>
  }
}
type Program = {
  config: { app: (input: { stage: string }) => App | Promise<App>; run: () => Promise<unknown> }
  run: (program: () => Promise<unknown>) => Promise<unknown>
}

const [root = '', work = '', outfile = ''] = process.argv.slice(2)
const request = JSON.parse(readFileSync(path.join(work, 'request.json'), 'utf8')) as Request
const platform = path.join(root, '.sst/platform')
const load = createRequire(path.join(platform, 'package.json'))

const errors = new Set<string>()
const note = (error: unknown): void => {
  const said = error instanceof Error ? error.message : String(error)
  errors.add(said || 'Something failed, and did not say why.')
}
process.on('unhandledRejection', note)
process.on('uncaughtException', note)

const evaluate = async (): Promise<Omit<Synthesis, 'errors'> | undefined> => {
  const { dev, stage } = request
  await bundleConfig({ root, outfile, replaced: request.replaced })
  const builds = createBuilds({ request, root, work })
  const cli = await startCliServer({
    ...builds.methods,
    'Provider.Aws.Bootstrap': async () => BOOTSTRAP,
    'Provider.Aws.Appsync': async () => ({
      http: BOOTSTRAP.appsyncHttp,
      realtime: BOOTSTRAP.appsyncRealtime,
    }),
  })
  process.env.SST_SERVER = cli.url

  const paths = { home: work, root, work, platform }
  const command = dev ? 'dev' : 'deploy'
  Object.assign(globalThis, {
    $dev: dev,
    $cli: { command, dev, paths, state: { version: {} } },
    $app: { stage },
  })
  const program = (await import(pathToFileURL(outfile).href)) as Program
  const app: App = { ...(await program.config.app({ stage })), stage }
  checkProviders(app)
  Object.assign(globalThis, { $app: { removal: 'retain', protect: false, providers: {}, ...app } })

  const pulumi = load('@pulumi/pulumi') as Pulumi
  const recorder = createRecorder(app, note)
  await pulumi.runtime.setMocks(recorder.mocks, app.name, stage)
  let outputs: unknown
  const runProgram = async () => {
    pulumi.runtime.registerStackTransformation(recorder.observe)
    // Pulumi may wait for ever for a program that fails, and say nothing.
    outputs = await program.run(program.config.run).catch(note)
    return outputs
  }
  pulumi.runtime.runInPulumiStack(runProgram).catch(note)
  await drained()
  if (outputs === undefined) note('The program of sst.config.ts never came to its end.')
  noteUnsettled()
  const { resources } = recorder
  const settled =
    errors.size === 0 ? await pulumi.runtime.serializeProperties('outputs', outputs) : {}
  return {
    app,
    dev,
    resources,
    builds: builds.builds,
    targets: builds.targets,
    outputs: unwrap(settled).plain as Synthesis['outputs'],
  }
}

/** What the platform was installed without can't be loaded by it. */
const checkProviders = ({ providers = {} }: App): void => {
  const lock = readFileSync(path.join(root, '.sst/provider-lock.json'), 'utf8')
  const known = (JSON.parse(lock) as { alias: string; name: string }[]).map(({ name }) => name)
  const missing = Object.keys(providers).filter(name => !known.includes(name))
  if (missing.length > 0)
    throw new Error(`Run \`npx sst install\`: the platform lacks ${missing.join(' and ')}.`)
}

const drained = () => new Promise<void>(done => process.once('beforeExit', () => done()))

/**
 * Promises that nothing will settle any more: resources that wait for each other, or for what failed.
 * Pulumi forgets those that were asked for, and complains of others at its exit.
 */
const noteUnsettled = (): void => {
  const { leakedPromises } = load('@pulumi/pulumi/runtime/debuggable') as {
    leakedPromises: () => [Set<unknown>, string]
  }
  const [{ size }] = leakedPromises()
  if (size > 0 && errors.size === 0)
    errors.add(`${size} promises of the program never settle: do resources wait for each other?`)
}

const result = await evaluate().catch(note)
const synthesis = { ...result, errors: [...errors] }
writeFileSync(path.join(work, 'result.json'), JSON.stringify(synthesis))
process.exit(0)
