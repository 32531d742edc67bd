import { AppError } from '../core/errors.ts'
import { decrypt, type Place } from '../settings/secret.ts'
import type { LlmConfiguration } from './configuration.ts'

/** Where a configuration's key is at home; no tool has such a name. */
export const placeOf = ({ id, owner }: Pick<LlmConfiguration, 'id' | 'owner'>): Place => ({
  layer: owner,
  tool: 'llm-configuration',
  key: id,
})

/**
 * A configuration's own key, or undefined where it has none. DECRYPTION_FAILED names the
 * configuration; no other key steps in.
 */
export const openKey = (configuration: LlmConfiguration): string | undefined => {
  if (configuration.apiKey === undefined) return undefined
  const key = decrypt(configuration.apiKey, placeOf(configuration))
  if (key !== undefined && key !== '') return key
  throw new AppError(
    'DECRYPTION_FAILED',
    `The API key of the LLM configuration "${configuration.name}" can't be decrypted. Enter it there again.`,
  )
}
