import path from 'node:path'
import type { Plugin } from 'esbuild'

/** Reads other contents for some files, by their paths from the root. */
export const replaceFiles = (root: string, replaced: Record<string, string>): Plugin => ({
  name: 'replace-files',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
      const contents = replaced[path.relative(root, file)]
      return contents === undefined ? undefined : { contents, loader: 'ts' }
    })
  },
})
