import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { AppError } from '../core/errors.ts'
import type { RouteTable } from '../http/route-table.ts'
import { type Bundle, bundle, deployedModules } from './bundle.ts'
import { MANIFEST } from './prepare-bundles.ts'

export type Manifest = Record<string, Bundle>

/** What each function's module exports. */
const HANDLER = 'handler'
/** How many modules are bundled side by side. */
const AT_ONCE = 4

/** Bundles all modules of a table into folders below `directory`, and says there what is in each. */
export const makeBundles = async (table: RouteTable, directory: string): Promise<Manifest> => {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  const waiting = deployedModules(table)
  const made: [string, Bundle][] = []
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      made.push([next.module, await bundleOf(next, directory)])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const manifest = Object.fromEntries(made.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  await writeFile(path.join(directory, MANIFEST), JSON.stringify(manifest))
  return manifest
}

const bundleOf = async (
  deployed: Parameters<typeof bundle>[0],
  directory: string,
): Promise<Bundle> => {
  const file = `functions/${deployed.module}.ts`
  const made = await bundle(deployed, path.join(directory, deployed.module)).catch(error => {
    const said = error instanceof Error ? error.message : String(error)
    throw new AppError('INVALID_DEFINITION', `${file} can not be bundled: ${said}`)
  })
  if (made.exports.includes(HANDLER)) return made
  throw new AppError(
    'INVALID_DEFINITION',
    `${file} exports no ${HANDLER}, which a function runs. A tool's file ends with: export const handler = serve(tool)`,
  )
}
