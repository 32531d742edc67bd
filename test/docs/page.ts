import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { World } from '../world.ts'

/** A page of docs/, by its file's name. */
export const readPage = (name: string): string =>
  readFileSync(path.join(import.meta.dirname, '../../docs', name), 'utf8')

/** Runs all of a page's commands in order, as its first admin, and returns what they print. */
export const runCommands = async (page: string, world: World): Promise<string> => {
  const script = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .map(([, block]) => block)
    .join('\n')
    .replaceAll('http://127.0.0.1:8787', world.url)
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    env: { ...process.env, KEY: world.adminKey },
  })
  return stdout
}
