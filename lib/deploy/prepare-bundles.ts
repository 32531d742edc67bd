import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '../core/errors.ts'
import type { Manifest } from './make-bundles.ts'

/** Where a deploy finds what it uploads, relative to the project. */
export const BUNDLES = 'dist/functions'
/** What is in them, in the same folder. */
export const MANIFEST = 'manifest.json'

/**
 * Has `npm run bundles` make what is deployed, and reads what it says of it. It runs by itself: SST
 * evaluates its config with an esbuild of its own, of another version.
 */
export const prepareBundles = async (root: string): Promise<Manifest> => {
  const node = path.join(root, 'node_modules/.bin/node')
  const script = path.join(root, 'scripts/bundles.ts')
  try {
    await promisify(execFile)(node, [script, '--write'], { cwd: root })
  } catch (error) {
    const { stdout, message } = error as Error & { stdout?: string }
    throw new AppError('INVALID_DEFINITION', stdout?.trim() || message)
  }
  return JSON.parse(await readFile(path.join(root, BUNDLES, MANIFEST), 'utf8'))
}
