import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '../core/errors.ts'
import type { Manifest } from './make-bundles.ts'

/** The file of a bundle that Lambda loads, and what it calls in it. */
export const BUNDLE_ENTRY = 'index'
export const BUNDLE_HANDLER = `${BUNDLE_ENTRY}.handler`

/** What is in bundles, in the same folder. */
export const MANIFEST = 'manifest.json'

/** Bundles that are ready: where, relative to the project, and what is in them. */
export type Prepared = { folder: string; bundles: Manifest }

/** Where a stage's deploy finds what it uploads: two stages may be deployed at once. */
export const bundlesFolder = (stage: string): string => `dist/${stage}`

/**
 * Has `npm run bundles` make what is deployed, and reads what it says of it. It runs by itself: SST
 * evaluates its config with an esbuild of its own, of another version.
 */
export const prepareBundles = async (root: string, stage: string): Promise<Prepared> => {
  const folder = bundlesFolder(stage)
  const node = path.join(root, 'node_modules/.bin/node')
  const script = path.join(root, 'scripts/bundles.ts')
  try {
    await promisify(execFile)(node, [script, '--write', folder], { cwd: root })
  } catch (error) {
    const { stdout, message } = error as Error & { stdout?: string }
    throw new AppError('INVALID_DEFINITION', stdout?.trim() || message)
  }
  const bundles = JSON.parse(await readFile(path.join(root, folder, MANIFEST), 'utf8')) as Manifest
  return { folder, bundles }
}
