import * as z from 'zod'

// What both sides of the comparison declare: 500 operations, with parameters as tools have them.

export const TOOLS = 50
export const OPERATIONS = 10

export const toolName = (tool: number): string => `tool_${tool}`
export const operationName = (operation: number): string => `operation_${operation}`

/**
 * The parameters of a tool's operations, most of them constants that these share, as tools do.
 * Made anew each time: making them is part of what is measured.
 */
export const parametersOf = (tool: number): z.ZodObject[] => {
  const shared = {
    query: z.string().min(1).max(1_000).describe(`What to look for in ${tool}.`),
    limit: z.int().min(1).max(100).default(20).describe('How many at most.'),
    order: z.enum(['newest', 'oldest', 'best']).optional().describe('In which order.'),
    since: z.string().optional().describe('From which day on.'),
    exact: z.boolean().default(false),
  }
  return Array.from({ length: OPERATIONS }, (_, operation) =>
    z.object({
      ...shared,
      [`filter_${operation}`]: z
        .object({ field: z.string(), values: z.array(z.string()).max(20) })
        .optional()
        .describe('What else must hold.'),
    }),
  )
}
