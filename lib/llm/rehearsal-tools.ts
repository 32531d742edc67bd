import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { ScriptLine } from './rehearsal-script.ts'

type OfferedTools = LanguageModelV4CallOptions['tools']

/** What may stand for the colon of a plugin's tool on the wire, in the order of trying. */
const COLON_ALIASES = [':', '_', '__', '-']

/** The offered tool that a script's name means: the exact name, else the colon's aliases. */
export const findTool = (
  tools: OfferedTools,
  name: string,
): LanguageModelV4FunctionTool | undefined => {
  const functions = functionsOf(tools)
  for (const alias of COLON_ALIASES) {
    const wanted = name.replace(':', alias)
    const found = functions.find(tool => tool.name === wanted)
    if (found) return found
  }
  return undefined
}

/** The property that says which operation is meant, where the tool's schema has one. */
export const discriminatorFor = (
  tool: LanguageModelV4FunctionTool | undefined,
  operation: string,
): string | undefined => {
  const discriminator = firstEnum(tool)
  if (!discriminator || operation === '') return undefined
  const { key, values } = discriminator
  // An operation that isn't offered is still named where the key is the usual one, so that the
  // platform can refuse it by its name.
  return values.includes(operation) || key === 'action' ? key : undefined
}

/** A script line that calls something that is on offer, for a person who has never seen one. */
export const exampleLine = (tools: OfferedTools): string => {
  const offered = functionsOf(tools)
  const easy = offered.find(tool => needsNothing(tool) && firstEnum(tool))
  if (easy) return `/${easy.name} ${firstEnum(easy)?.values[0]} {}`
  const [first] = offered
  return first ? `/${first.name} <operation> {"<argument>": "…"}` : '/time now {}'
}

/** Whether a call of its first operation needs no argument. */
const needsNothing = (tool: LanguageModelV4FunctionTool): boolean => {
  const { required = [] } = tool.inputSchema
  return required.every((name: string) => name === firstEnum(tool)?.key)
}

export const toolNames = (tools: OfferedTools): string[] =>
  functionsOf(tools).map(({ name }) => name)

/** The line as it is named in what the rehearsal says. */
export const titleOf = ({ tool, operation }: ScriptLine): string => `${tool} ${operation}`.trim()

const functionsOf = (tools: OfferedTools = []): LanguageModelV4FunctionTool[] =>
  tools.filter(tool => tool.type === 'function')

const firstEnum = (
  tool: LanguageModelV4FunctionTool | undefined,
): { key: string; values: string[] } | undefined => {
  const [key, schema] = Object.entries<unknown>(tool?.inputSchema.properties ?? {})[0] ?? []
  const listed = typeof schema === 'object' && schema && 'enum' in schema ? schema.enum : undefined
  if (key === undefined || !Array.isArray(listed)) return undefined
  const values = listed.filter(value => typeof value === 'string')
  return values.length > 0 && values.length === listed.length ? { key, values } : undefined
}
