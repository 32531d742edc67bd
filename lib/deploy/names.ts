import { AppError } from '../core/errors.ts'
import type { FunctionSpec, Route, RouteTable, Schedule } from '../http/route-table.ts'

/** Lambda's limit of a function's name, in characters. */
export const MAX_FUNCTION_NAME_CHARS = 64

/** What the names of everything in one deployment begin with. */
export const prefixOf = (app: { name: string; stage: string }): string =>
  `${app.name}-${app.stage}-`

/** A function's name, which callers make up from the prefix: it can't be shortened or hashed. */
export const functionName = (prefix: string, { name }: Pick<FunctionSpec, 'name'>): string => {
  const whole = prefix + name
  if (whole.length <= MAX_FUNCTION_NAME_CHARS) return whole
  throw new AppError(
    'INVALID_DEFINITION',
    `The function "${whole}" has ${whole.length} characters in its name; Lambda takes ${MAX_FUNCTION_NAME_CHARS}. Shorten the stage, or the names of the tool and its operation.`,
  )
}

/** The name of a function's component: letters and digits, each word capitalised. */
export const functionComponent = ({ name }: Pick<FunctionSpec, 'name'>): string =>
  componentName(name)

/** The name of a route's component, after the name of the API. */
export const routeComponent = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  componentName(`${method.toLowerCase()} ${path}`)

export const scheduleComponent = ({ name }: Pick<Schedule, 'name'>): string =>
  componentName(`${name} schedule`)

/**
 * Refuses a table that could only fail halfway through a deploy: a name that is too long or that
 * two things share, a route or schedule whose function isn't there.
 */
export const checkNames = (table: RouteTable, prefix: string): void => {
  for (const spec of table.functions) functionName(prefix, spec)
  refuseRepeats('function', table.functions.map(functionComponent))
  refuseRepeats('route', table.routes.map(routeComponent))
  const names = new Set(table.functions.map(({ name }) => name))
  for (const { functionName: wanted } of [...table.routes, ...table.schedules])
    if (!names.has(wanted)) noFunction(wanted)
}

export const noFunction = (name: string): never => {
  throw new AppError('INVALID_DEFINITION', `There is no function "${name}".`)
}

const componentName = (text: string): string =>
  text
    .split(/[^a-zA-Z0-9]+/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const refuseRepeats = (what: string, names: string[]): void => {
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined)
    throw new AppError(
      'INVALID_DEFINITION',
      `Two of the table would both be the ${what} "${repeated}" in a deploy; rename one.`,
    )
}
