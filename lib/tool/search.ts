import type { Operation, Tool } from './define.ts'
import { operationSchema } from './schema.ts'

/**
 * The name under which a model looks for its tools where they are too many to offer at once: the
 * platform's own, so that no declared tool may have it.
 */
export const FIND_TOOLS = 'find_tools'

/** A tool and those of its operations that may be found. */
export type Searchable = { tool: Tool; enabled: readonly Operation[] }
export type Found = { tool: Tool; operation: Operation }

/** How much more a word counts in a name than in a description, and there than in a parameter's. */
const BOOST = { tool: 3, operation: 4, description: 2, parameters: 1 }
/** How many letters of a word may differ: one of five. */
const FUZZINESS = 0.2

/**
 * The operations that a text is most likely about, best first: by the words of their names,
 * descriptions and parameters, beginnings of words and small slips included. What has more of the
 * words comes before what has one of them often.
 */
export const searchOperations = async (
  tools: readonly Searchable[],
  query: string,
  limit: number,
): Promise<Found[]> => {
  const { default: MiniSearch } = await import('minisearch')
  const all = tools.flatMap(({ tool, enabled }) => enabled.map(operation => ({ tool, operation })))
  const index = new MiniSearch({ fields: Object.keys(BOOST), tokenize: wordsOf })
  index.addAll(all.map(({ tool, operation }, id) => ({ id, ...textsOf(tool, operation) })))
  return index
    .search(query, { boost: BOOST, prefix: true, fuzzy: FUZZINESS, tokenize: wordsOf })
    .slice(0, limit)
    .flatMap(({ id }) => all[id] ?? [])
}

const textsOf = (tool: Tool, operation: Operation): Record<keyof typeof BOOST, string> => ({
  tool: `${tool.name} ${tool.displayName} ${tool.category}`,
  operation: operation.name,
  description: `${operation.description} ${tool.description}`,
  parameters: Object.entries(operationSchema(operation).properties)
    .map(([name, { description = '' }]) => `${name} ${description}`)
    .join(' '),
})

/** Words in any script, those of `create_issue` and `createIssue` each by itself. */
const wordsOf = (text: string): string[] =>
  text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
