import path from 'node:path'
import type { Plugin } from 'esbuild'
import type { FunctionSpec, Reach } from '../http/route-table.ts'

/** A module, and the functions that are deployed from it. */
export type Deployed = { module: string; functions: readonly FunctionSpec[] }

/** Whatever imports something as it is used, in the function that can't come to use it. */
type Rule = (importer: string, imported: string, deployed: Deployed) => boolean

/** A tool's file, or one in its folder; `index.ts` is the list of all of them. */
const TOOL = /^functions\/tools\/(?!index\.ts$)([^/.]+)/

const RULES: readonly Rule[] = [
  // A tool's running part belongs to its own functions: all others only hold its declaration.
  (importer, _, { module }) => {
    const [, tool] = TOOL.exec(importer) ?? []
    return tool !== undefined && `tools/${tool}` !== module && !isSharedBy(tool, module)
  },
  // So does what runs operations.
  (importer, _, { module }) => importer === 'lib/http/serve.ts' && !module.startsWith('tools/'),
  (importer, imported, deployed) =>
    importer === 'lib/call/keep-bytes.ts' &&
    imported.endsWith('/media/asset.ts') &&
    !reaches(deployed, 'media'),
  // What runs for long is handed to its own function, and wakes its task.
  (importer, imported, deployed) =>
    /^lib\/(call|http)\//.test(importer) &&
    imported.endsWith('/invoke.ts') &&
    deployed.module.startsWith('tools/') &&
    !reaches(deployed, 'itself'),
]

/** `sub_agent` is made of what stands in the folder of `subagents`. */
const isSharedBy = (tool: string, module: string): boolean =>
  tool === 'subagents' && module === 'tools/sub-agent'

const reaches = ({ functions }: Deployed, word: Reach): boolean =>
  functions.some(({ reach }) => reach.includes(word))

/**
 * Leaves out of a bundle what its functions never come to import; whoever tries all the same is
 * told so.
 */
export const leaveOut = (root: string, deployed: Deployed): Plugin => ({
  name: 'leave-out',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /.*/ }, ({ kind, importer, path: imported }) => {
      if (kind !== 'dynamic-import') return undefined
      const from = path.relative(root, importer).replaceAll(path.sep, '/')
      if (!RULES.some(rule => rule(from, imported, deployed))) return undefined
      return { path: `${from} → ${imported}`, namespace: 'left-out', pluginData: { from } }
    })
    onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path: what, pluginData }) => ({
      contents: `throw new Error(${JSON.stringify(
        `A deploy leaves ${what} out of ${deployed.module}, which does not run it. ` +
          `What more than an operation itself needs, import at the top of ${pluginData.from}.`,
      )})`,
    }))
  },
})
