import * as z from 'zod'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/ids.ts'
import type { Fetch } from '../web/guarded-fetch.ts'
import { checkTool } from './check.ts'
import { closed } from './closed.ts'
import type { SettingDefinition, SettingValue, SettingValues } from './setting.ts'
import type { Category, Decider, EFFECTS, Resource } from './words.ts'

/** What a repeat of an operation does: nothing, the same effect again, or a second effect. */
export type Effect = (typeof EFFECTS)[number]

/** What an operation's code gets: everything comes in here, nothing is ambient. */
export type CallContext<Parameters = unknown, Settings = unknown> = {
  parameters: Parameters
  settings: Settings
  call: {
    id: Id<'call'>
    tool: string
    operation: string
    effect: Effect
    /** The user who approved exactly this call; absent where nobody was asked. */
    approvedBy?: string
  }
  agent: { id: Id<'agent'>; name: string }
  /** Who owns the agent, read from the agent's row and never from whoever is signed in. */
  principal: { id: Id<'user'> | Id<'group'> }
  task?: { id: Id<'task'>; rootId: Id<'task'> }
  meta: Record<string, string>
  /** Reaches public addresses only, and takes no more of an answer than fits. */
  fetch: Fetch
  clock: Clock
  /** Aborts when the operation's time is up. */
  signal: AbortSignal
  /** The same for every run of one call: pass it on to what the operation calls. */
  idempotencyKey: string
}

/**
 * Wraps the run of every operation of a tool: `next` runs what is within, once, and gives what it
 * returned; what the middleware returns or throws stands in its place. Arguments can't be changed:
 * what was approved is what runs.
 */
export type Middleware<Settings = unknown> = (
  context: Readonly<CallContext<unknown, Settings>>,
  next: () => Promise<unknown>,
) => unknown

type OperationOptions = {
  /** What the model reads of this operation. */
  description: string
  /** What a repeat does; `once` unless said. */
  effect?: Effect
  enabledByDefault?: boolean
  requiresApprovalByDefault?: boolean
  /** The least role that approves and rejects its calls; `admin` unless said. */
  decidedByDefault?: Decider
  /** Whether whoever started the task never decides about its calls. */
  neverByStarterByDefault?: boolean
  /** The function's own limits and reach. */
  timeoutSeconds?: number
  memoryMb?: number
  touches?: readonly Resource[]
  /** What to say of arguments that models like to send and that have no place here, by name. */
  misplaced?: Readonly<Record<string, string>>
  /** It ends its task, so a step that makes other calls as well is refused it. */
  endsTask?: boolean
}

type OperationInput<Parameters extends z.ZodObject, Settings> = OperationOptions & {
  parameters: Parameters
  /** One sentence for the person who approves, from the arguments alone. */
  describe: (parameters: z.output<Parameters>) => string
  execute: (context: CallContext<z.output<Parameters>, Settings>) => unknown
}

type ToolOptions<Name extends string, Discriminator extends string> = {
  name: Name
  description: string
  displayName?: string
  category?: Category
  icon?: string
  recommendsSkills?: readonly string[]
  /** The name of the property that says which operation is meant; `action` unless said. */
  discriminator?: Discriminator
  /** What the model sees of one result at most, in characters; 100,000 unless said. */
  maxResultChars?: number
}

/** One operation as the platform sees it; its code's types were checked where it was declared. */
export type Operation = Required<OperationOptions> & {
  name: string
  parameters: z.ZodObject
  describe(parameters: unknown): string
  execute(context: CallContext): unknown
}

/** A tool as the platform sees it. */
export type Tool = Required<Omit<ToolOptions<string, string>, 'icon'>> & {
  icon?: string
  settings: Record<string, SettingDefinition>
  operations: Record<string, Operation>
  /** The first one is outermost. */
  middleware: readonly Middleware[]
  available(context: { settings: Record<string, SettingValue | undefined> }): boolean
}

/** A tool as its author declared it: its operations and settings by their names. */
export type DefinedTool<
  Name extends string,
  Settings extends Record<string, SettingDefinition>,
  Parameters extends Record<string, z.ZodObject>,
> = Omit<Tool, 'name' | 'settings' | 'operations'> & {
  name: Name
  settings: Settings
  operations: {
    [Key in keyof Parameters]: Omit<Operation, 'parameters'> & { parameters: Parameters[Key] }
  }
}

const DEFAULT_DISCRIMINATOR = 'action'
/** Characters of a result that a model sees unless its tool says otherwise. */
export const DEFAULT_MAX_RESULT_CHARS = 100_000
const DEFAULT_TIMEOUT_SECONDS = 25
const DEFAULT_MEMORY_MB = 512

/**
 * Declares a tool. From the declaration come its routes and functions, the schema that models
 * see, its settings form and its approval card. Throws INVALID_DEFINITION when the module loads,
 * naming the tool and what to change.
 */
export const defineTool = <
  const Name extends string,
  const Settings extends Record<string, SettingDefinition> = Record<never, never>,
  Parameters extends Record<string, z.ZodObject> = never,
  const Discriminator extends string = typeof DEFAULT_DISCRIMINATOR,
>(
  definition: ToolOptions<Name, Discriminator> & {
    settings?: Settings
    /** Wraps every operation's run; the first one is outermost. */
    middleware?: readonly Middleware<SettingValues<NoInfer<Settings>>>[]
    /** False hides the tool from the model and refuses its calls. */
    available?: (context: { settings: SettingValues<NoInfer<Settings>> }) => boolean
    operations: {
      [Key in keyof Parameters]: OperationInput<Parameters[Key], SettingValues<Settings>> &
        WithoutParameter<Parameters[Key], Discriminator>
    }
  },
): DefinedTool<Name, Settings, Parameters> => {
  const inputs = definition.operations as unknown as Record<
    string,
    OperationInput<z.ZodObject, unknown>
  >
  const operations = Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [name, completeOperation(name, input)]),
  )
  const { settings = {}, available = () => true, middleware = [], ...options } = definition
  const tool: Tool = {
    displayName: titleOf(definition.name),
    category: 'general',
    recommendsSkills: [],
    discriminator: DEFAULT_DISCRIMINATOR,
    maxResultChars: DEFAULT_MAX_RESULT_CHARS,
    ...options,
    settings,
    operations,
    middleware: middleware as readonly Middleware[],
    available: available as Tool['available'],
  }
  checkTool(tool)
  return tool as DefinedTool<Name, Settings, Parameters>
}

/** Calls name their operation in a property, so that no parameter can have that name. */
type WithoutParameter<Parameters extends z.ZodObject, Discriminator extends string> = string extends
  | keyof Parameters['shape']
  | Discriminator
  ? unknown
  : Discriminator extends keyof Parameters['shape']
    ? { parameters: `"${Discriminator}" names the operation: rename the parameter` }
    : unknown

const completeOperation = (
  name: string,
  input: OperationInput<z.ZodObject, unknown>,
): Operation => ({
  effect: 'once',
  enabledByDefault: true,
  requiresApprovalByDefault: false,
  decidedByDefault: 'admin',
  neverByStarterByDefault: false,
  timeoutSeconds: DEFAULT_TIMEOUT_SECONDS,
  memoryMb: DEFAULT_MEMORY_MB,
  touches: [],
  misplaced: {},
  endsTask: false,
  ...input,
  name,
  // An argument that nobody declared is named in an error, never dropped.
  parameters: input.parameters instanceof z.ZodObject ? closed(input.parameters) : input.parameters,
})

const titleOf = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
