import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { AppError } from '../core/errors.ts'
import type { DriverOptions } from './driver.ts'

/** A model of any server that speaks OpenAI's Chat Completions. Throws NOT_CONFIGURED. */
export const openaiCompatible = ({
  name,
  baseUrl,
  ...settings
}: DriverOptions): LanguageModelV4 => {
  if (baseUrl === undefined) {
    throw new AppError(
      'NOT_CONFIGURED',
      'A model of the provider "openai-compatible" needs its baseUrl, as in "http://localhost:11434/v1".',
    )
  }
  // Without includeUsage such servers stream no count of tokens, and the task would look free.
  const options = { ...settings, name: 'openai-compatible', baseURL: baseUrl, includeUsage: true }
  return createOpenAICompatible(options)(name)
}
