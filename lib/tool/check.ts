import * as z from 'zod'
import { canonicalJson } from '../core/canonical-json.ts'
import { AppError } from '../core/errors.ts'
import { wireName } from './alias.ts'
import type { Operation, Tool } from './define.ts'
import { operationProblem, settingProblem, toolProblem } from './options.ts'
import { parametersProblem, schemaProblem } from './parameters.ts'
import { FIND_TOOLS } from './search.ts'
import { invalidValue, type SettingDefinition } from './setting.ts'

const NAME_PATTERN = /^[a-z][a-z0-9_]*$/
/** Throws INVALID_DEFINITION where a declaration breaks a rule, naming the tool and what to change. */
export const checkTool = (tool: Tool): void => {
  const fail = (problem: string): never => {
    throw new AppError('INVALID_DEFINITION', `Tool "${tool.name}": ${problem}`)
  }
  const checkName = (what: string, name: string) => {
    // Rows and results are looked up by name, and every object has a "constructor".
    if (!NAME_PATTERN.test(name) || name in {})
      fail(`${what} must match ${NAME_PATTERN} and not be "constructor".`)
  }
  const checkOptions = (what: string, problem: string | undefined) => {
    if (problem) fail(`${what} ${problem}`)
  }
  checkName('its name', tool.name)
  wireName(tool.name)
  if (tool.name === FIND_TOOLS)
    fail('its name is the one by which models look for tools; choose another.')
  checkOptions('its option', toolProblem(tool))
  checkName(`the discriminator "${tool.discriminator}"`, tool.discriminator)
  const operations = Object.values(tool.operations)
  if (operations.length === 0) fail('it declares no operation; add one under "operations".')
  for (const operation of operations) {
    checkName(`the operation "${operation.name}"`, operation.name)
    checkOptions(`the option of the operation "${operation.name}",`, operationProblem(operation))
    for (const [name, schema] of Object.entries(operation.parameters.shape)) {
      const what = `the parameter "${name}" of the operation "${operation.name}"`
      checkName(what, name)
      const problem = schemaProblem(schema)
      if (problem) fail(`${what} ${problem}`)
    }
    const problem = parametersProblem(operation.parameters)
    if (problem) fail(`the parameters of the operation "${operation.name}" ${problem}`)
    checkOperation(tool, operation, fail)
  }
  for (const [key, definition] of Object.entries(tool.settings)) {
    checkName(`the setting "${key}"`, key)
    checkOptions(`the option of the setting "${key}",`, settingProblem(definition))
    if (definition.type === 'password' && definition.exposeToLlm)
      fail(`the password "${key}" can't be exposed to a model; remove exposeToLlm.`)
    const problem = definition.default !== undefined && invalidValue(definition, definition.default)
    if (problem) fail(`the default of the setting "${key}" ${problem}`)
    const misfit = definition.enumFor !== undefined && enumProblem(tool, definition)
    if (misfit) fail(`the setting "${key}" ${misfit}`)
  }
  checkSharedParameters(operations, fail)
}

const checkOperation = (tool: Tool, operation: Operation, fail: (problem: string) => never) => {
  const { name } = operation
  if (tool.discriminator in operation.parameters.shape)
    fail(
      `the operation "${name}" has a parameter "${tool.discriminator}", which names the operation. ` +
        'Rename the parameter, or give the tool another discriminator.',
    )
}

/** What is wrong with what a setting lists values for: a parameter that is a text, or texts. */
const enumProblem = (
  { settings, operations }: Tool,
  { type, enumFor: name = '' }: SettingDefinition,
): string | undefined => {
  if (type !== 'multi-select')
    return 'lists the values of a parameter ("enumFor"): make it a multi-select.'
  if (Object.values(settings).filter(({ enumFor }) => enumFor === name).length > 1)
    return `lists the values of "${name}" ("enumFor"), and another setting does so, too.`
  const schemas = Object.values(operations).flatMap(({ parameters: { shape } }) =>
    Object.hasOwn(shape, name) ? [z.toJSONSchema(shape[name], { io: 'input' })] : [],
  )
  if (schemas.length === 0)
    return `lists the values of "${name}" ("enumFor"), which is no parameter of any operation.`
  const isText = (schema: unknown) => (schema as { type?: unknown } | undefined)?.type === 'string'
  return schemas.every(schema => isText(schema.type === 'array' ? schema.items : schema))
    ? undefined
    : `lists the values of "${name}" ("enumFor"), which must be a text or a list of texts.`
}

/** One flat schema has one place for each name, so a shared name needs one schema. */
const checkSharedParameters = (operations: Operation[], fail: (problem: string) => never) => {
  const seen = new Map<string, { operation: string; schema: z.core.$ZodType }>()
  for (const operation of operations)
    for (const [name, schema] of Object.entries(operation.parameters.shape)) {
      const first = seen.get(name)
      if (!first) seen.set(name, { operation: operation.name, schema })
      else if (first.schema !== schema && !sameShape(first.schema, schema))
        fail(
          `"${first.operation}" and "${operation.name}" give the parameter "${name}" different ` +
            'schemas. Share one constant, or rename one of them.',
        )
    }
}

/** Emitting costs time, so it happens only where two declarations share a name but no constant. */
const sameShape = (a: z.core.$ZodType, b: z.core.$ZodType): boolean => shapeOf(a) === shapeOf(b)

const shapeOf = (schema: z.core.$ZodType): string => {
  const { description: _, default: __, ...shape } = z.toJSONSchema(schema, { io: 'input' })
  return canonicalJson(shape)
}
