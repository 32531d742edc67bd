import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { tryBundle } from './synth/try-bundle.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'bundles-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tried = (name: string, source: string) => {
  writeFileSync(path.join(folder, `${name}.mjs`), source)
  return tryBundle(folder, `${name}.handler`)
}

it('takes a folder whose file exports the handler', async () => {
  expect(await tried('sound', 'export const handler = () => undefined')).toEqual([])
})

it('finds a file that is missing, a handler that is, and a module that fails when it is imported', async () => {
  expect(await tryBundle(folder, 'nowhere.handler')).toEqual([
    expect.stringContaining('has no file for the handler nowhere.handler'),
  ])
  expect(await tried('nameless', 'export const other = 1')).toEqual([
    expect.stringContaining('exports no function "handler"'),
  ])
  expect(await tried('lost', "import 'not-installed-here'")).toEqual([
    expect.stringContaining("can't be imported"),
  ])
})
