import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ESTIMATED_OUTPUT_TOKENS, estimateOf } from '../../../lib/llm/estimate.ts'
import { costOf, NANO_PER_USD, nanoOf, type Price, usdOf } from '../../../lib/llm/price.ts'
import { listPrice, PRICED_ON } from '../../../lib/llm/price-list.ts'
import { NAMES, request } from './server.ts'

const usage = (inputTokens: number, outputTokens: number, cachedInputTokens?: number) => ({
  inputTokens,
  outputTokens,
  ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
})

describe('a cost', () => {
  const price: Price = { input: 3, cachedInput: 0.3, output: 15 }

  it.each([
    [usage(1_000_000, 0), 3],
    [usage(0, 1_000_000), 15],
    [usage(1_000_000, 0, 1_000_000), 0.3],
    [usage(1_000_000, 1_000_000, 500_000), 1.5 + 0.15 + 15],
    // A provider that counts more cached than all is not paid for less than nothing.
    [usage(1_000, 0, 2_000), 0.0003],
  ])('of %j is %d dollars', (used, usd) => {
    expect(costOf(price, used)).toBe(nanoOf(usd))
  })

  it('of cached input is that of other input, where nobody says another', () => {
    expect(costOf({ input: 2, output: 8 }, usage(1_000, 0, 1_000))).toBe(2_000_000)
  })

  it('of a longer input is another for all of the request, from the first token beyond', () => {
    const tiers: Price = {
      input: 1,
      output: 2,
      long: { aboveInputTokens: 200_000, input: 2, output: 3 },
    }
    expect(costOf(tiers, usage(200_000, 10))).toBe(200_000 * 1_000 + 10 * 2_000)
    expect(costOf(tiers, usage(200_001, 10))).toBe(200_001 * 2_000 + 10 * 3_000)
  })

  it('of a thousand steps is their sum exactly, and no fraction of a billionth is ever kept', () => {
    const rate = fc.double({ min: 0, max: 200, noNaN: true })
    const step = fc.tuple(fc.nat(1_000_000), fc.nat(100_000), fc.nat(1_000_000))
    fc.assert(
      fc.property(
        fc.record({ input: rate, cachedInput: rate, output: rate }),
        fc.array(step, { minLength: 1_000, maxLength: 1_000 }),
        (rates, steps) => {
          const costs = steps.map(([input, output, cached]) =>
            costOf(rates, usage(input, output, cached)),
          )
          for (const cost of costs) expect(Number.isSafeInteger(cost) && cost >= 0).toBe(true)
          const sum = costs.reduce((total, cost) => total + cost, 0)
          const exact = costs.reduce((total, cost) => total + BigInt(cost), 0n)
          expect(BigInt(sum)).toBe(exact)
          expect(usdOf(sum) * NANO_PER_USD).toBeCloseTo(sum, 0)
        },
      ),
      { numRuns: 20 },
    )
  })
})

describe('the price list', () => {
  const priceOf = (provider: string, name: string, day = PRICED_ON) =>
    listPrice({ provider, name }, day)

  it.each([
    ['openai', 'gpt-6.2-sol', 2, 10],
    ['openai', 'gpt-5-mini', 0.25, 2],
    ['openai', 'gpt-5-mini-2025-08-07', 0.25, 2],
    ['openai', 'gpt-5', 1.25, 10],
    ['openai', 'gpt-5.6', 4, 20],
    ['anthropic', 'claude-opus-5-5', 4, 20],
    ['anthropic', 'claude-opus-5', 5, 25],
    ['anthropic', 'claude-opus-4-20250514', 15, 75],
    ['anthropic', 'claude-sonnet-4-5-20250929', 3, 15],
    ['anthropic', 'claude-haiku-4-5', 1, 5],
    ['google', 'gemini-3.1-pro-preview', 2, 12],
    ['xai', 'grok-4.7', 2, 6],
    ['xai', 'grok-4.20-0309-non-reasoning', 1.25, 2.5],
    ['rehearsal', 'script', 0, 0],
  ])('of %s has %s, at %d and %d dollars', (provider, name, input, output) => {
    expect(priceOf(provider, name)).toMatchObject({ input, output })
  })

  it.each([
    ['openai', 'gpt-5-ultra'],
    ['openai', 'my-gpt-5'],
    ['anthropic', 'claude-opus-9'],
    ['google', NAMES.google],
    ['xai', 'grok-4'],
    ['openai-compatible', 'gpt-5'],
    ['constructor', 'gpt-5'],
  ])('of %s makes no price up for %s', (provider, name) => {
    expect(priceOf(provider, name)).toBeUndefined()
  })

  it('goes by the day, where a provider has said from when another holds', () => {
    expect(priceOf('google', 'gemini-3.8-flash', '2026-12-31')?.input).toBe(0.75)
    expect(priceOf('google', 'gemini-3.8-flash', '2027-01-01')?.input).toBe(1.5)
  })

  it('asks more for a long input where the provider does', () => {
    const price = priceOf('openai', 'gpt-6.1-sol')
    expect(price?.long).toEqual({
      aboveInputTokens: 272_000,
      input: 4,
      cachedInput: 0.2,
      output: 15,
    })
    expect(priceOf('xai', 'grok-4.7')?.long).toMatchObject({ aboveInputTokens: 199_999, input: 4 })
  })
})

describe('an estimate', () => {
  it('grows with the request, and has the price of its tokens', () => {
    const price: Price = { input: 1, output: 10 }
    const short = estimateOf(request(), price)
    const long = estimateOf(request({ system: 'x'.repeat(3_000) }), price)
    expect(long.tokens - short.tokens).toBeGreaterThanOrEqual(990)
    expect(short.cost).toBe(
      costOf(price, usage(short.tokens - ESTIMATED_OUTPUT_TOKENS, ESTIMATED_OUTPUT_TOKENS)),
    )
    expect(estimateOf(request(), undefined)).toEqual({ tokens: short.tokens })
  })

  it('counts what tools answered, and each of their images', () => {
    const answered = (images: number) =>
      estimateOf(
        request({
          messages: [
            {
              role: 'tool',
              results: [
                {
                  toolCallId: '1',
                  toolName: 'look',
                  text: 'y'.repeat(3_000),
                  isError: false,
                  images: Array(images).fill({ mimeType: 'image/png', bytes: new Uint8Array(10) }),
                },
              ],
            },
          ],
        }),
        undefined,
      ).tokens
    expect(answered(0)).toBeGreaterThan(2_000)
    expect(answered(2) - answered(0)).toBe(3_200)
  })
})
