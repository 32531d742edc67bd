import path from 'node:path'
import { AppError } from '../lib/core/errors.ts'
import { makeTool } from './make-tool/make.ts'

// `npm run make:tool lookup_order` makes a tool to start from: its file, its test and its line in
// the list of tools. It overwrites nothing.

const USAGE = 'Usage: npm run make:tool <name>, such as lookup_order'

const [name, ...rest] = process.argv.slice(2)

try {
  if (name === undefined || name.startsWith('-') || rest.length > 0)
    throw new AppError('BAD_REQUEST', USAGE)
  const { toolFile, testFile, indexFile } = await makeTool(
    path.join(import.meta.dirname, '..'),
    name,
  )
  process.stdout.write(`Made ${toolFile}
     ${testFile}
and a line in ${indexFile}.

Next:
  1. Say in ${toolFile} what the tool does, and write its "execute".
  2. npx vitest run ${testFile}
  3. npm run dev, and enable the tool for an agent:
     POST /api/v1/agents/<agent>/tools/${name}/enable

docs/tools.md tells what else a tool can declare.
`)
} catch (error) {
  if (!(error instanceof AppError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
