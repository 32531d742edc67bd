import { createAnthropic } from '@ai-sdk/anthropic'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { DriverOptions } from './driver.ts'

/** A model of Anthropic's, over its Messages API. */
export const anthropic = ({ name, baseUrl, ...settings }: DriverOptions): LanguageModelV4 =>
  createAnthropic({ ...settings, ...(baseUrl !== undefined && { baseURL: baseUrl }) })(name)
