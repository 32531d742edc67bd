import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDataDirectory } from '../../../lib/local/data-directory.ts'

let parent: string
let directory: string
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'espalier-test-'))
  directory = path.join(parent, 'data')
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const modeOf = async (name: string) => (await stat(name)).mode & 0o7777

test('a new data folder is its owner’s alone', async () => {
  const { release } = await openDataDirectory(directory)
  await release()
  expect(await modeOf(directory)).toBe(0o700)
  expect(await modeOf(path.join(directory, 'secrets.json'))).toBe(0o600)
})

test('one that was open to others is closed to them, and what is in it stays', async () => {
  await mkdir(directory)
  await writeFile(path.join(directory, 'table.sqlite'), 'kept')
  await chmod(directory, 0o755)
  const { release } = await openDataDirectory(directory)
  await release()
  expect(await modeOf(directory)).toBe(0o700)
  expect(await readFile(path.join(directory, 'table.sqlite'), 'utf8')).toBe('kept')
})

test('a folder that is everyone’s is none', async () => {
  await mkdir(directory)
  await chmod(directory, 0o1777)
  await expect(openDataDirectory(directory)).rejects.toMatchObject({
    code: 'NOT_CONFIGURED',
    message: expect.stringContaining('ESPALIER_DATA'),
  })
  expect(await modeOf(directory)).toBe(0o1777)
})
