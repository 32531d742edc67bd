import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'

/** What a driver is given: all that it needs, checked. */
export type DriverOptions = {
  name: string
  baseUrl?: string
  apiKey?: string
  fetch?: typeof globalThis.fetch
}

/** The same model with options of its provider that every one of our requests has. */
export const withProviderOptions = (
  model: LanguageModelV4,
  providerOptions: SharedV4ProviderOptions,
): LanguageModelV4 => ({
  specificationVersion: model.specificationVersion,
  provider: model.provider,
  modelId: model.modelId,
  supportedUrls: model.supportedUrls,
  doGenerate: options => model.doGenerate({ ...options, providerOptions }),
  doStream: options => model.doStream({ ...options, providerOptions }),
})
