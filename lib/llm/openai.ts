import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { type DriverOptions, withProviderOptions } from './driver.ts'

/**
 * A model of OpenAI's, over its Responses API. Nothing is stored there: the history is ours, and
 * an id of a stored item would make a later request depend on their retention.
 */
export const openai = ({ name, baseUrl, ...settings }: DriverOptions): LanguageModelV4 =>
  withProviderOptions(
    createOpenAI({ ...settings, ...(baseUrl !== undefined && { baseURL: baseUrl }) })(name),
    { openai: { store: false } },
  )
