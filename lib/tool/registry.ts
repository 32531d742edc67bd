import { AppError, notFound } from '../core/errors.ts'
import type { Tool } from './define.ts'

/** The tools there are, by name, each loaded when it is first needed. */
export type ToolRegistry = Record<string, () => Promise<{ tool: Tool }>>

/** A tool's declaration, or undefined where no tool has that name. */
export const findTool = async (registry: ToolRegistry, name: string): Promise<Tool | undefined> =>
  Object.hasOwn(registry, name) ? loadTool(registry, name) : undefined

/** A tool's declaration, or NOT_FOUND. */
export const getTool = async (registry: ToolRegistry, name: string): Promise<Tool> => {
  const tool = await findTool(registry, name)
  if (!tool) throw notFound('tool', name)
  return tool
}

/** Every tool's declaration, in the registry's order. */
export const allTools = async (registry: ToolRegistry): Promise<Tool[]> => {
  const tools = await Promise.all(Object.keys(registry).map(name => loadTool(registry, name)))
  return tools.filter(tool => tool !== undefined)
}

/** Loads a tool; one that is listed under another name than its own is INVALID_DEFINITION. */
const loadTool = async (registry: ToolRegistry, name: string): Promise<Tool | undefined> => {
  const tool = (await registry[name]?.())?.tool
  if (tool && tool.name !== name)
    throw new AppError(
      'INVALID_DEFINITION',
      `The tool "${tool.name}" is listed as "${name}": give both the same name.`,
    )
  return tool
}
