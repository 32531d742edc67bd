import * as z from 'zod'
import { type Author, auditWrite } from '../audit/audit.ts'
import { isoNow, systemClock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { invalid } from '../core/problems.ts'
import { atVersion, FIRST_VERSION } from '../data/at-version.ts'
import * as table from '../data/table.ts'
import { type TransactionWrite, transact } from '../data/transact.ts'
import { PrincipalId } from '../principal/principal.ts'
import { MASK } from '../settings/layer.ts'
import { encrypt } from '../settings/secret.ts'
import { placeOf } from './configuration-key.ts'
import { Provider } from './model-reference.ts'
import { Rates } from './price.ts'

/** Whose an LLM configuration is: everyone's, one principal's, or one agent's. */
export const ConfigurationOwner = z.union([z.literal('global'), PrincipalId, idOf('agent')])
export type ConfigurationOwner = z.infer<typeof ConfigurationOwner>

/** A model with where it is and the key that it asks for, for agents to name in place of all that. */
export const LlmConfiguration = z.object({
  id: idOf('llm'),
  owner: ConfigurationOwner,
  name: z.string(),
  provider: Provider,
  /** The model's own name. */
  model: z.string(),
  baseUrl: z.string().optional(),
  /** Sealed for this configuration of this owner. */
  apiKey: z.string().optional(),
  /** What the model costs here; absent, what its provider's list says, if it is on one. */
  price: Rates.optional(),
  /**
   * Whether an admin of the instance chose the address: only then may it be inside, and may the
   * instance's own key go there.
   */
  isTrusted: z.boolean(),
  /** How many agents name it: what decides about its end reads no index. */
  agents: z.int(),
  version: z.int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  updatedBy: z.string(),
  requestHash: z.string().optional(),
})
export type LlmConfiguration = z.infer<typeof LlmConfiguration>

// Access patterns: one configuration by id, in a tick as well; an owner's, newest first.
export const configurationKey = (id: Id<'llm'>): table.Key => ({ pk: id, sk: 'llm-configuration' })
const indexesOf = ({ id, owner, createdAt }: LlmConfiguration) => ({
  gsi1pk: `${owner}#llm`,
  gsi1sk: `${createdAt}#${id}`,
})

/** What its keepers say of a configuration; `null` takes away what there is. */
export type ConfigurationFields = {
  name: string
  provider: Provider
  model: string
  baseUrl?: string | null
  /** In plain text; `***` keeps what there is. */
  apiKey?: string | null
  price?: Rates | null
}

/** Whose log tells of a configuration's changes: an agent's are in its principal's. */
export type Keeper = Author & {
  auditOwner: Parameters<typeof auditWrite>[0]
  isAdmin: boolean
  /** That the owner is still there, and still governed by the same: a part of each change. */
  holds?: TransactionWrite[]
}

/**
 * Makes a configuration; the same id again gives the one that has it. NOT_FOUND where its owner is
 * gone.
 */
export const createConfiguration = async (
  {
    id,
    owner,
    requestHash,
    ...fields
  }: { id: Id<'llm'>; owner: ConfigurationOwner; requestHash: string } & ConfigurationFields,
  keeper: Keeper,
): Promise<{ configuration: LlmConfiguration; created: boolean }> => {
  if (fields.provider === 'openai-compatible' && !fields.baseUrl) throw addressNeeded()
  const now = isoNow(keeper.clock ?? systemClock)
  const { name, provider, model, baseUrl, apiKey, price } = fields
  const configuration: LlmConfiguration = {
    id,
    owner,
    name,
    provider,
    model,
    ...(baseUrl ? { baseUrl } : {}),
    ...(apiKey ? { apiKey: encrypt(apiKey, placeOf({ id, owner })) } : {}),
    ...(price ? { price } : {}),
    isTrusted: keeper.isAdmin,
    agents: 0,
    version: FIRST_VERSION,
    createdAt: now,
    updatedAt: now,
    updatedBy: keeper.by,
    requestHash,
  }
  const { ok } = await transact([
    { insert: configuration, key: configurationKey(id), indexes: indexesOf(configuration) },
    entryOf('llm-configuration-created', id, keeper, { to: told(fields) }),
    ...holdsOf(keeper),
  ])
  if (ok) return { configuration, created: true }
  return { configuration: await getConfiguration(id), created: false }
}

export const findConfiguration = (id: Id<'llm'>) =>
  table.get(LlmConfiguration, configurationKey(id))

/** One configuration, or NOT_FOUND. */
export const getConfiguration = async (id: Id<'llm'>): Promise<LlmConfiguration> => {
  const configuration = await findConfiguration(id)
  if (!configuration) throw notFound('LLM configuration', id)
  return configuration
}

export const listConfigurations = (
  owner: ConfigurationOwner,
  page: { limit: number; cursor?: string },
) =>
  table.query(LlmConfiguration, { index: 'gsi1', pk: `${owner}#llm`, newestFirst: true, ...page })

/**
 * Changes a configuration as it was read; undefined where it is of another version by now. A key is
 * kept only at the address that it was entered for: VALIDATION_ERROR asks for it again.
 */
export const updateConfiguration = async (
  current: LlmConfiguration,
  changes: Partial<ConfigurationFields>,
  keeper: Keeper,
): Promise<LlmConfiguration | undefined> => {
  const { id, owner, version } = current
  const { name, provider, model } = changes
  const keepsKey = changes.apiKey === undefined || changes.apiKey === MASK
  const isMoved =
    (provider !== undefined && provider !== current.provider) ||
    (changes.baseUrl !== undefined && (changes.baseUrl ?? undefined) !== current.baseUrl)
  if (isMoved && keepsKey && current.apiKey !== undefined) throw keyNeeded()
  if ((provider ?? current.provider) === 'openai-compatible' && !baseUrlAfter(current, changes))
    throw addressNeeded()
  const isTrusted = isMoved || changes.apiKey === null ? keeper.isAdmin : current.isTrusted
  const { baseUrl, apiKey, price } = changes
  const updatedAt = isoNow(keeper.clock ?? systemClock)
  const outcome = await transact([
    {
      key: configurationKey(id),
      update: {
        set: {
          name,
          provider,
          model,
          baseUrl: baseUrl ?? undefined,
          apiKey: keepsKey || !apiKey ? undefined : encrypt(apiKey, placeOf({ id, owner })),
          price: price ?? undefined,
          isTrusted,
          version: version + 1,
          updatedAt,
          updatedBy: keeper.by,
        },
        remove: (['baseUrl', 'apiKey', 'price'] as const).filter(field => changes[field] === null),
      },
      where: atVersion(version),
    },
    entryOf('llm-configuration-changed', id, keeper, {
      from: told(current, changes),
      to: told(changes),
    }),
    ...holdsOf(keeper),
  ])
  return outcome.ok ? getConfiguration(id) : undefined
}

/**
 * Ends a configuration as it was read, its key with it; undefined where it is of another version by
 * now. LLM_CONFIGURATION_IN_USE while an agent names it.
 */
export const deleteConfiguration = async (
  { id, version, ...configuration }: LlmConfiguration,
  keeper: Keeper,
): Promise<true | undefined> => {
  const outcome = await transact([
    { remove: configurationKey(id), where: { agents: 0, ...atVersion(version) } },
    entryOf('llm-configuration-deleted', id, keeper, { from: told(configuration) }),
    ...holdsOf(keeper),
  ])
  if (outcome.ok) return true
  const { agents } = await getConfiguration(id)
  if (agents === 0) return undefined
  throw new AppError(
    'LLM_CONFIGURATION_IN_USE',
    `${agents} agents use this LLM configuration. Give them another model first.`,
    { details: { count: agents } },
  )
}

/** Takes away the configurations of an owner that is gone, the keys in them; no agent names them. */
export const clearConfigurations = async (owner: ConfigurationOwner): Promise<void> => {
  const own = await table.queryAll(LlmConfiguration, { index: 'gsi1', pk: `${owner}#llm` })
  for (const { id } of own) await table.remove(configurationKey(id))
}

/**
 * What an agent that begins or ceases to name a configuration does to its count: a part of the
 * transaction that says so. It fails where the configuration is gone.
 */
export const usedBy = (id: Id<'llm'>, count: 1 | -1): TransactionWrite => ({
  key: configurationKey(id),
  update: { add: { agents: count } },
})

/** Whether an agent may name a configuration: the instance's, its principal's, or its own. */
export const isUsableBy = (
  { owner }: Pick<LlmConfiguration, 'owner'>,
  agent: { id: Id<'agent'>; principalId: PrincipalId },
): boolean => owner === 'global' || owner === agent.principalId || owner === agent.id

const baseUrlAfter = (current: LlmConfiguration, { baseUrl }: Partial<ConfigurationFields>) =>
  baseUrl === undefined ? current.baseUrl : baseUrl

const addressNeeded = () =>
  invalid('The LLM configuration is not valid.', [
    {
      field: 'base_url',
      message: 'is needed: an "openai-compatible" model has no address of its own.',
    },
  ])

const keyNeeded = () =>
  invalid('The API key is kept only for the provider and the base URL that it was entered for.', [
    { field: 'api_key', message: 'is needed again with another provider or base URL.' },
  ])

const entryOf = (
  action: string,
  target: Id<'llm'>,
  { auditOwner, by, keyId, clock }: Keeper,
  change: Pick<Parameters<typeof auditWrite>[1], 'from' | 'to'>,
): TransactionWrite =>
  auditWrite(auditOwner, { by, ...(keyId ? { keyId } : {}), action, target, ...change }, clock)

const holdsOf = ({ holds = [] }: Keeper): TransactionWrite[] => holds

/** Fields as the log names them, as the wire does. */
const TOLD = {
  name: 'name',
  provider: 'provider',
  model: 'model',
  baseUrl: 'base_url',
  apiKey: 'api_key',
  price: 'price',
} as const

type Tellable = { [Field in keyof typeof TOLD]?: string | Rates | null | undefined }

/** What the log tells of a configuration: all of its fields, or those that a change names. */
const told = (fields: Tellable, changes: Tellable = fields): Record<string, string | null> =>
  Object.fromEntries(
    (Object.keys(TOLD) as (keyof typeof TOLD)[]).flatMap(field => {
      if (changes[field] === undefined) return []
      const value = fields[field] ?? null
      return [[TOLD[field], field === 'apiKey' && value !== null ? MASK : textOf(value)]]
    }),
  )

const textOf = (value: string | Rates | null): string | null =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value
