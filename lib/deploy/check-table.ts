import { AppError } from '../core/errors.ts'
import type { RouteTable } from '../http/route-table.ts'
import { isReach } from './grants.ts'

/**
 * Refuses a table that could only fail halfway through a deploy, or in a request: two routes that one
 * request could mean, a word of a reach that opens nothing known, a function whose module is missing.
 * `hasFile` tells of a path from the project's root.
 */
export const checkTable = (
  { functions, routes }: Pick<RouteTable, 'functions' | 'routes'>,
  hasFile: (path: string) => boolean,
): void => {
  const known = new Map<string, string>()
  for (const { method, path, functionName } of routes) {
    const pattern = `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`
    const other = known.get(pattern)
    if (other !== undefined)
      throw refusal(
        `The routes "${other}" and "${method} ${path}" (${functionName}) answer the same requests; API Gateway takes one. Give one of them another path.`,
      )
    known.set(pattern, `${method} ${path}`)
  }
  for (const { name, tool, reach, module } of functions) {
    const unknown = reach.find(word => !isReach(word))
    if (unknown !== undefined)
      throw refusal(
        `${tool === undefined ? '' : `The tool "${tool}" is to touch what nobody knows: `}"${unknown}", in the reach of "${name}", opens nothing; lib/deploy/grants.ts has the words.`,
      )
    const path = `functions/${module}.ts`
    if (!hasFile(path))
      throw refusal(`The function "${name}" is to run ${path}, and there is no such file.`)
  }
}

const refusal = (message: string) => new AppError('INVALID_DEFINITION', message)
