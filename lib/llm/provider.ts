import type { LanguageModelV4 } from '@ai-sdk/provider'
import { AppError } from '../core/errors.ts'
import { DIALECTS, type Dialect } from '../tool/dialect/adapt.ts'
import type { DriverOptions } from './driver.ts'
import { checkedReference, type Provider } from './model-reference.ts'

export type OpenOptions = {
  /** Where absent, the provider's environment variable is read. */
  apiKey?: string
  /** Whether the environment's key may go to the model's address; a stranger's gets none of ours. */
  usesInstanceKey?: boolean
  /** Makes the requests in place of the global one. */
  fetch?: typeof globalThis.fetch
}

const KEY_VARIABLES = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  xai: 'XAI_API_KEY',
  'openai-compatible': 'OPENAI_COMPATIBLE_API_KEY',
} as const satisfies Record<Exclude<Provider, 'rehearsal'>, string>

/** The dialect in which a provider is told of tools; a rehearsal reads them as they are. */
export const dialectOf = (provider: string): Dialect =>
  DIALECTS.find(dialect => dialect === provider) ?? 'mcp'

/** The environment variable that a provider's key is read from; a rehearsal has none. */
export const keyVariable = (provider: Provider): string | undefined =>
  provider === 'rehearsal' ? undefined : KEY_VARIABLES[provider]

/**
 * The driver of a model; its package is loaded only now. Throws VALIDATION_ERROR for a reference
 * that names no model (any more), and NOT_CONFIGURED where a key or an address is missing.
 */
export const openModel = async (
  reference: { provider: string; name: string; baseUrl?: string | undefined },
  options: OpenOptions = {},
): Promise<LanguageModelV4> => {
  const { provider, name, baseUrl } = checkedReference(reference)
  if (provider === 'rehearsal') return (await import('./rehearsal.ts')).rehearsal(name)
  const apiKey = keyOf(provider, options)
  const driverOptions: DriverOptions = {
    name,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiKey !== undefined && { apiKey }),
    ...(options.fetch && { fetch: options.fetch }),
  }
  switch (provider) {
    case 'openai':
      return (await import('./openai.ts')).openai(driverOptions)
    case 'anthropic':
      return (await import('./anthropic.ts')).anthropic(driverOptions)
    case 'google':
      return (await import('./google.ts')).google(driverOptions)
    case 'xai':
      return (await import('./xai.ts')).xai(driverOptions)
    case 'openai-compatible':
      return (await import('./openai-compatible.ts')).openaiCompatible(driverOptions)
    default:
      return provider satisfies never
  }
}

/** Servers on one's own machine often want no key, so only `openai-compatible` goes without. */
const keyOf = (
  provider: Exclude<Provider, 'rehearsal'>,
  { apiKey, usesInstanceKey = true }: OpenOptions,
): string | undefined => {
  const variable = KEY_VARIABLES[provider]
  const key = apiKey || (usesInstanceKey ? process.env[variable] : undefined)
  if (key || provider === 'openai-compatible') return key || undefined
  if (!usesInstanceKey)
    throw new AppError(
      'NOT_CONFIGURED',
      `This model of the provider "${provider}" has an address of its own, so it needs a key of its own.`,
    )
  throw new AppError(
    'NOT_CONFIGURED',
    `There is no key for the model provider "${provider}". Set the environment variable ${variable}, or use a model of the provider "rehearsal", which needs none.`,
  )
}
