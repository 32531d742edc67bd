import type { LanguageModelV4 } from '@ai-sdk/provider'
import { createXai } from '@ai-sdk/xai'
import { type DriverOptions, withProviderOptions } from './driver.ts'

/** A model of xAI's, over its Responses API, where nothing is stored: see openai.ts. */
export const xai = ({ name, baseUrl, ...settings }: DriverOptions): LanguageModelV4 =>
  withProviderOptions(
    createXai({ ...settings, ...(baseUrl !== undefined && { baseURL: baseUrl }) })(name),
    { xai: { store: false } },
  )
