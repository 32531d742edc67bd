import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'

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
