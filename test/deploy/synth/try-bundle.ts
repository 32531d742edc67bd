import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** As Lambda looks for a handler's module. */
const EXTENSIONS = ['.mjs', '.js', '.cjs']
const START_MS = 20_000

/**
 * What is wrong with a folder that is deployed as it is: it needs the handler's file, and that file,
 * in a process that knows nothing of this project or its environment, an export of that name.
 */
export const tryBundle = async (folder: string, handler: string): Promise<string[]> => {
  const exported = path.extname(handler).slice(1)
  const base = path.join(folder, handler.slice(0, -exported.length - 1))
  const file = EXTENSIONS.map(extension => base + extension).find(existsSync)
  if (!file) return [`${folder} has no file for the handler ${handler}.`]
  const code = `const module = await import(${JSON.stringify(pathToFileURL(file).href)})
process.stdout.write(typeof module[${JSON.stringify(exported)}])`
  try {
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], {
      cwd: folder,
      env: { AWS_REGION: 'eu-central-1' },
      timeout: START_MS,
    })
    if (stdout === 'function') return []
    return [`${file} exports no function "${exported}".`]
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string }
    return [`${file} can't be imported: ${stderr || message}`]
  }
}
