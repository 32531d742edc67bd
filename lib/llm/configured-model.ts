import type { LanguageModelV4 } from '@ai-sdk/provider'
import { guardedFetch } from '../web/guarded-fetch.ts'
import type { LlmConfiguration } from './configuration.ts'
import { openKey } from './configuration-key.ts'
import { openModel } from './provider.ts'

/**
 * A model thinks before its first word and between two, so that the limits of what tools fetch
 * would end most answers; each request has a time of its own besides.
 */
const MODEL_CEILING = {
  firstByteTimeoutMs: 120_000,
  idleTimeoutMs: 120_000,
  totalTimeoutMs: 120_000,
} as const

/**
 * The driver of a configuration's model, with its own key. An address that no admin of the
 * instance chose is asked through the guard, which reaches the public internet and what the operator
 * allows, and none of the instance's own keys goes there. Throws what `openModel` throws, and
 * DECRYPTION_FAILED.
 */
export const openConfigured = async (configuration: LlmConfiguration): Promise<LanguageModelV4> => {
  const { provider, model: name, baseUrl, isTrusted } = configuration
  const apiKey = openKey(configuration)
  const isForeign = baseUrl !== undefined && !isTrusted
  return openModel(
    { provider, name, ...(baseUrl === undefined ? {} : { baseUrl }) },
    {
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(isForeign ? { usesInstanceKey: false, fetch: fetchOutside } : {}),
    },
  )
}

const guarded = guardedFetch({ ceiling: MODEL_CEILING })
const fetchOutside: typeof globalThis.fetch = (input, init) => guarded(input, init)
