import { createGoogle } from '@ai-sdk/google'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { DriverOptions } from './driver.ts'

/** A model of Google's, over the Gemini API. */
export const google = ({ name, baseUrl, ...settings }: DriverOptions): LanguageModelV4 =>
  createGoogle({ ...settings, ...(baseUrl !== undefined && { baseURL: baseUrl }) })(name)
