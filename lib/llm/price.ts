import * as z from 'zod'
import type { ModelUsage } from './model.ts'

/** What a million tokens cost, in US dollars. */
export const Rates = z.object({
  input: z.number(),
  /** Input that the provider still had; as other input, where nothing is said. */
  cachedInput: z.number().optional(),
  output: z.number(),
})
export type Rates = z.infer<typeof Rates>

/** A model's rates, and those that hold for the whole of a request with a longer input. */
export type Price = Rates & { long?: Rates & { aboveInputTokens: number } }

/** Money is counted in whole billionths of a dollar, so that sums of it are exact. */
export const NANO_PER_USD = 1_000_000_000
/** A dollar for a million tokens, in those for one. */
const NANO_PER_RATE = NANO_PER_USD / 1_000_000

export const usdOf = (nano: number): number => nano / NANO_PER_USD
export const nanoOf = (usd: number): number => Math.round(usd * NANO_PER_USD)

/** What one request's tokens cost, in whole billionths of a dollar. */
export const costOf = (price: Price, usage: ModelUsage): number => {
  const { inputTokens, outputTokens } = usage
  const { long } = price
  const {
    input,
    cachedInput = input,
    output,
  } = long && inputTokens > long.aboveInputTokens ? long : price
  const cached = Math.min(usage.cachedInputTokens ?? 0, inputTokens)
  const sum = (inputTokens - cached) * input + cached * cachedInput + outputTokens * output
  return Math.round(sum * NANO_PER_RATE)
}
