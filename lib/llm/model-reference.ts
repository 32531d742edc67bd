import * as z from 'zod'
import { AppError } from '../core/errors.ts'

export const PROVIDERS = [
  'rehearsal',
  'openai',
  'anthropic',
  'google',
  'xai',
  'openai-compatible',
] as const
export const Provider = z.enum(PROVIDERS)
export type Provider = z.infer<typeof Provider>

/** Longer than any model's name that a provider lists, short enough for a URL's path. */
export const MAX_MODEL_NAME_CHARS = 200

/** What browsers and servers take for sure; far above any provider's. */
export const MAX_BASE_URL_CHARS = 2_000

export const ModelReference = z.object({
  provider: Provider,
  /** Part of a URL with some providers, so only what names of models are made of. */
  name: z
    .string()
    .max(MAX_MODEL_NAME_CHARS)
    .regex(/^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._:@/-]*$/, 'is not the name of a model'),
  /** Where the API is, if not at the provider's own address; `openai-compatible` has no other. */
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .max(MAX_BASE_URL_CHARS)
    .refine(url => !/^[^/]*\/\/[^/?#]*@/.test(url), 'must not hold a user name or a password')
    .exactOptional(),
})
export type ModelReference = z.infer<typeof ModelReference>

/**
 * The model that a text like `openai/gpt-5` names; the name may hold slashes itself. Throws
 * VALIDATION_ERROR.
 */
export const parseModel = (text: string): ModelReference => {
  const slash = text.indexOf('/')
  const [provider, name] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)]
  return checkedReference({ provider, name })
}

/** What names a model, or VALIDATION_ERROR. */
export const checkedReference = (reference: unknown): ModelReference => {
  const parsed = ModelReference.safeParse(reference)
  if (parsed.success) return parsed.data
  const details = parsed.error.issues.map(({ path, message }) => ({ path, message }))
  throw new AppError(
    'VALIDATION_ERROR',
    `A model is written <provider>/<name>, as in "openai/gpt-5"; the providers are ${PROVIDERS.join(', ')}.`,
    { details },
  )
}
