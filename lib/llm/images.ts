import type { Provider } from './model-reference.ts'

/** An image within a tool's answer. */
export type Image = { mimeType: string; bytes: Uint8Array }

/**
 * The kinds of images that a provider's models take within a tool's answer: what Anthropic, OpenAI,
 * Google and xAI document (2026-11). Of what stands behind a compatible address nobody knows.
 */
const IMAGE_TYPES: Record<Provider, readonly string[]> = {
  anthropic: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  openai: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  google: ['image/png', 'image/jpeg', 'image/webp'],
  xai: ['image/png', 'image/jpeg'],
  'openai-compatible': [],
  rehearsal: [],
}

export const imageTypesOf = (provider: string): readonly string[] =>
  Object.hasOwn(IMAGE_TYPES, provider) ? IMAGE_TYPES[provider as Provider] : []

/** Images in one request at most: every step sends them again. */
export const MAX_IMAGES = 8
/** One image's bytes: Anthropic takes 5 MB of base64, which is the least of the four. */
export const MAX_IMAGE_BYTES = 3.75 * 1_000_000
/** All images' bytes in one request: Google takes 20 MB in all, base64 and text included. */
export const MAX_IMAGES_BYTES = 12 * 1_000_000
