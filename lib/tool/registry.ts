import type { Tool } from './define.ts'

/** The tools there are, by name, each loaded when it is first needed. */
export type ToolRegistry = Record<string, () => Promise<{ tool: Tool }>>

/** A tool's declaration, or undefined where no tool has that name. */
export const findTool = async (registry: ToolRegistry, name: string): Promise<Tool | undefined> =>
  Object.hasOwn(registry, name) ? (await registry[name]?.())?.tool : undefined

/** Every tool's declaration, in the registry's order. */
export const allTools = async (registry: ToolRegistry): Promise<Tool[]> =>
  (await Promise.all(Object.values(registry).map(load => load()))).map(({ tool }) => tool)
