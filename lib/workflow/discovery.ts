import * as z from 'zod'
import { answeredCall, type Origin } from '../call/propose.ts'
import { resultOf } from '../call/receipt.ts'
import type { ToolCall } from '../call/tool-call.ts'
import { clip } from '../core/clip.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import { invalid, problemsOf } from '../core/problems.ts'
import type { ModelTool } from '../llm/model.ts'
import { FIND_TOOLS, type Found, searchOperations } from '../tool/search.ts'
import { type Conversation, callIdsOf } from './conversation.ts'
import type { Catalogue, Offer } from './offer.ts'

/**
 * What the tools of a request may take, in estimated tokens, before they are to be looked for: past
 * about ten thousand, models begin to choose worse, and each step pays for them again.
 */
export const MAX_OFFERED_TOKENS = 10_000
/** Operations, however short: among hundreds they choose worse, too. */
export const MAX_OFFERED_OPERATIONS = 199
/** What those that were found, and the one to find more, may take then. */
export const MAX_FOUND_TOKENS = 2_000
/** Of the text of a tool in JSON; a provider's own count is lower. */
const CHARACTERS_PER_TOKEN = 3

/** What one search finds: the default and the most. */
const DEFAULT_FOUND = 5
const MAX_FOUND = 10
const MAX_QUERY_CHARS = 500
/** What the description spends on the names of what there is, in characters. */
const MAX_LISTED_CHARS = 1_500
/** What is told of each operation that was found, in characters. */
const MAX_TOLD_CHARS = 300

const Query = z.strictObject({
  query: z.string().min(1).max(MAX_QUERY_CHARS).describe('What you want to do, in a few words.'),
  limit: z.int().min(1).max(MAX_FOUND).default(DEFAULT_FOUND).describe('How many to find.'),
})

const { $schema: _, ...QUERY_SCHEMA } = z.toJSONSchema(Query, { io: 'input' })

/** What a search found, in its call's record. */
const Findings = z.object({ found: z.array(z.object({ tool: z.string(), operation: z.string() })) })
type Findings = z.infer<typeof Findings>

/** What a request offers, and what the names mean that a model calls. */
export type Offers = {
  forModel: ModelTool[]
  /** What stands behind a name, whether or not it was offered this time. */
  named: (name: string) => Offer | undefined
  /** Whether a name is that of the search. */
  isSearch: (name: string) => boolean
}

/**
 * What goes into the next request: all that there is while it is little enough; else the tool to
 * find others with, and what it has found in this conversation, the latest first, as far as it fits.
 */
export const offersOf = async (
  catalogue: Catalogue,
  { entries, calls }: Conversation,
): Promise<Offers> => {
  const all = new Map([...catalogue].map(([alias, candidate]) => [alias, candidate.whole]))
  const isWhole =
    operationsOf(catalogue) <= MAX_OFFERED_OPERATIONS &&
    sizeOf(modelTools(all)) <= MAX_OFFERED_TOKENS
  const offered = isWhole
    ? all
    : foundOffers(catalogue, await findingsIn(entries.flatMap(callIdsOf), calls))
  return {
    forModel: [...(isWhole ? [] : [searchTool(catalogue)]), ...modelTools(offered)],
    named: name => offered.get(name) ?? all.get(name),
    isSearch: name => !isWhole && name === FIND_TOOLS,
  }
}

/**
 * The record of a search, answered where it was asked for: it runs no operation. VALIDATION_ERROR
 * where it says nothing to look for.
 */
export const searchCall = async (
  origin: Origin,
  owner: Pick<ToolCall, 'agentId' | 'principalId'>,
  { catalogue, values }: { catalogue: Catalogue; values: Record<string, unknown> },
  clock: Clock = systemClock,
): Promise<ToolCall> => {
  const parsed = Query.safeParse(values)
  if (!parsed.success)
    throw invalid(
      `The arguments of "${FIND_TOOLS}" are not valid.`,
      problemsOf(parsed.error.issues, { root: 'arguments' }),
    )
  const { query, limit } = parsed.data
  const found = await searchOperations([...catalogue.values()], query, limit)
  const findings: Findings = {
    found: found.map(({ tool, operation }) => ({ tool: tool.name, operation: operation.name })),
  }
  const offered = foundOffers(catalogue, findings.found)
  return answeredCall(
    origin,
    { ...owner, tool: FIND_TOOLS, operation: SEARCH_OPERATION },
    {
      status: 'COMPLETED',
      arguments: parsed.data,
      description: `Look for tools: "${query}"`,
      result: {
        isError: false,
        content: tellFound(catalogue, { found, offered, query }),
        data: findings,
      },
    },
    clock,
  )
}

const SEARCH_OPERATION = 'find'

/** What the searches of a conversation found, the latest first. */
const findingsIn = async (
  ids: Id<'call'>[],
  calls: Conversation['calls'],
): Promise<Findings['found']> => {
  const searches = ids
    .flatMap(id => calls.get(id) ?? [])
    .filter(({ tool, status }) => tool === FIND_TOOLS && status === 'COMPLETED')
  const results = await Promise.all(searches.map(resultOf))
  return results.reverse().flatMap(result => Findings.safeParse(result?.data).data?.found ?? [])
}

/** Offers of what was found, as far as the room goes: the first of all in any case. */
const foundOffers = (catalogue: Catalogue, findings: Findings['found']): Map<string, Offer> => {
  const tokens = MAX_FOUND_TOKENS - sizeOf([searchTool(catalogue)])
  let chosen = new Map<string, Offer>()
  for (const { tool, operation } of findings) {
    const [alias, candidate] =
      [...catalogue].find(([, candidate]) => candidate.tool.name === tool) ?? []
    const found = candidate?.enabled.find(({ name }) => name === operation)
    const known = alias === undefined ? undefined : chosen.get(alias)
    if (alias === undefined || !candidate || !found || known?.enabled.includes(found)) continue
    const wider = new Map(chosen).set(alias, candidate.offer([...(known?.enabled ?? []), found]))
    if (chosen.size > 0 && sizeOf(modelTools(wider)) > tokens) break
    chosen = wider
  }
  return chosen
}

const searchTool = (catalogue: Catalogue): ModelTool => {
  const candidates = [...catalogue.values()]
  const names = candidates.map(({ tool }) => tool.name).join(', ')
  return {
    name: FIND_TOOLS,
    description: [
      `Finds the tools to do something with. You have ${operationsOf(catalogue)} operations of ${candidates.length} tools, too many to list; what this finds you can call from your next step on.`,
      `The tools: ${clip(names, MAX_LISTED_CHARS)}`,
    ].join('\n\n'),
    inputSchema: QUERY_SCHEMA,
  }
}

/** What was found: what the next request offers, and what it has no room for. */
const tellFound = (
  catalogue: Catalogue,
  { found, offered, query }: { found: Found[]; offered: Map<string, Offer>; query: string },
): string => {
  if (found.length === 0) return `Nothing was found for "${query}". Try other words.`
  const told = found.map(({ tool, operation }) => {
    const [alias = ''] = [...catalogue].find(([, candidate]) => candidate.tool === tool) ?? []
    const line = `- ${alias} (${operation.name}): ${clip(operation.description, MAX_TOLD_CHARS)}`
    return { line, isOffered: offered.get(alias)?.enabled.includes(operation) ?? false }
  })
  const { callable = [], others = [] } = Object.groupBy(told, ({ isOffered }) =>
    isOffered ? 'callable' : 'others',
  )
  return [
    'You can call these from now on:',
    ...callable.map(({ line }) => line),
    ...(others.length > 0
      ? ['There was no room for these; to call one, look for it alone, by its name:']
      : []),
    ...others.map(({ line }) => line),
  ].join('\n')
}

const operationsOf = (catalogue: Catalogue): number =>
  [...catalogue.values()].reduce((sum, { enabled }) => sum + enabled.length, 0)

/** Estimated tokens. */
const sizeOf = (tools: ModelTool[]): number =>
  Math.ceil(
    tools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0) / CHARACTERS_PER_TOKEN,
  )

const modelTools = (offers: Map<string, Offer>): ModelTool[] =>
  [...offers.values()].map(({ forModel }) => forModel)
