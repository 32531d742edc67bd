import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { REGION } from './account.ts'
import { type Replaced, wrapExport } from './change.ts'
import type { Request, Synthesis } from './synthesis.ts'
import { createTurns } from './turns.ts'

/** The stage as which bundles are made, once for all syntheses. */
export const BUNDLED = 'test-deploy'
export const ROOT = path.join(import.meta.dirname, '../../..')

/** Each takes a core and some hundred megabytes. */
const AT_ONCE = 2
const MAX_MS = 180_000

/** Evaluates `sst.config.ts` as a deploy would, without an account, and says all that came of it. */
export const synthesize = (asked: Pick<Request, 'stage'> & Partial<Request>): Promise<Synthesis> =>
  inTurn(async () => {
    const request = {
      dev: false,
      secrets: {},
      environment: {},
      builds: 'none' as const,
      ...asked,
      replaced: { ...bundledBefore(), ...asked.replaced },
    }
    const work = mkdtempSync(path.join(os.tmpdir(), 'synth-'))
    // Where the CLI puts it too: packages are found from there.
    const outfile = path.join(ROOT, '.sst/platform', `${path.basename(work)}.mjs`)
    try {
      writeFileSync(path.join(work, 'request.json'), JSON.stringify(request))
      await runIn({ work, outfile, request })
      return JSON.parse(readFileSync(path.join(work, 'result.json'), 'utf8')) as Synthesis
    } finally {
      for (const leftover of [work, outfile, `${outfile}.map`])
        rmSync(leftover, { recursive: true, force: true })
    }
  })

const inTurn = createTurns(AT_ONCE)

/** The bundles of a run are made before it: two that make them at once would be in each other's way. */
const bundledBefore = (): Replaced =>
  wrapExport(
    'lib/deploy/prepare-bundles.ts',
    'prepareBundles',
    `() => async root => {
      const folder = bundlesFolder('${BUNDLED}')
      return { folder, bundles: JSON.parse(await readFile(path.join(root, folder, MANIFEST), 'utf8')) }
    }`,
  )

const runIn = ({
  work,
  outfile,
  request,
}: {
  work: string
  outfile: string
  request: Request
}): Promise<void> => {
  const secrets = Object.entries(request.secrets).map(([name, value]) => [
    `SST_SECRET_${name}`,
    value,
  ])
  const child = spawn(
    process.execPath,
    [
      '--no-deprecation',
      '--no-warnings',
      path.join(import.meta.dirname, 'run.ts'),
      ROOT,
      work,
      outfile,
    ],
    {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        HOME: work,
        SST_AWS_REGION: REGION,
        ...request.environment,
        ...Object.fromEntries(secrets),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: MAX_MS,
    },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', chunk => {
      said += chunk
    })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`The synth ended with ${code ?? signal}: ${said}`))
    })
  })
}
