import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

// Sees that `.sst/platform` is there, SST's components with their packages, as the installed
// version of sst writes it: what type-checks and evaluates `sst.config.ts` needs it. It asks for no
// account and loads nothing but packages of npm.

const ROOT = path.join(import.meta.dirname, '../..')
const SST = path.join(ROOT, '.sst')
/** Without these, sst first downloads Pulumi, which only a deploy needs, and Bun for npm's work. */
const OFFLINE = { SST_SKIP_DEPENDENCY_CHECK: '1', SST_NO_BUN: '1', SST_TELEMETRY_DISABLED: '1' }

const wanted = (): string => {
  const file = path.join(ROOT, 'node_modules/sst/package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** The version of sst that made the platform, or undefined where it is missing or unfinished. */
const present = (): string | undefined => {
  const parts = ['platform/version', 'platform/node_modules/@pulumi/aws', 'provider-lock.json']
  if (parts.some(part => !existsSync(path.join(SST, part)))) return undefined
  return readFileSync(path.join(SST, 'platform/version'), 'utf8').trim()
}

const install = (): number => {
  // sst evaluates the config with the first `node` that it finds: this project's own.
  const bin = path.join(ROOT, 'node_modules/.bin')
  const { status, error } = spawnSync(path.join(bin, 'sst'), ['install', '--stage', 'test'], {
    cwd: ROOT,
    env: { ...process.env, ...OFFLINE, PATH: bin + path.delimiter + (process.env.PATH ?? '') },
    stdio: 'inherit',
  })
  if (error) throw error
  return status ?? 1
}

process.exitCode = present() === wanted() ? 0 : install()
