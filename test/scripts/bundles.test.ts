import { execFile } from 'node:child_process'
import { appendFile, cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'

const ROOT = path.join(import.meta.dirname, '../..')
const TOOL = 'functions/tools/time.ts'

let copy = ''
beforeEach(async () => {
  copy = await mkdtemp(path.join(tmpdir(), 'espalier-bundles-of-'))
  for (const entry of ['functions', 'lib', 'scripts', 'package.json', 'tsconfig.json'])
    await cp(path.join(ROOT, entry), path.join(copy, entry), { recursive: true })
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))
})
afterEach(() => rm(copy, { recursive: true, force: true }))

/** What the bundler says of a tool's file that goes on with `more`, where it ends with 1. */
const saidOf = async (more: string): Promise<string> => {
  await appendFile(path.join(copy, TOOL), more)
  const args = ['scripts/bundles.ts', '--runs', '0']
  const ended = await promisify(execFile)(process.execPath, args, { cwd: copy }).then(
    () => ({ code: 0, stdout: '' }),
    (error: { code: number; stdout: string }) => error,
  )
  expect(ended.code).toBe(1)
  return ended.stdout
}

it('names the file and the line that can not be read', async () => {
  expect(await saidOf('export const broken = (\n')).toMatch(/functions\/tools\/time\.ts:\d+/)
})

it('names the file that fails as it is loaded', async () => {
  expect(await saidOf("throw new TypeError('not today')\n")).toMatch(
    /not today[\s\S]*tools\/time\.ts/,
  )
})

it('names each function that is over its budget, and what to do', {
  timeout: 120_000,
}, async () => {
  const said = await saidOf(`export const heavy = '${'x'.repeat(600 * 1024)}'\n`)
  // The tick reads each tool's declaration, too.
  expect(said).toMatch(/Over their budget: .*tools\/time, .*workflow\/tick\. Import what is heavy/)
})
