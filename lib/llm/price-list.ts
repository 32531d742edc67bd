import type { Price, Rates } from './price.ts'

/**
 * What providers ask for their models, as looked up on this day. A model that isn't here has no
 * price: someone gives it one in an LLM configuration, which also says what was agreed otherwise.
 */
export const PRICED_ON = '2026-11-30'

type Entry = {
  /** The model's name, or a pattern of names; dated and `-latest` ones of it cost the same. */
  model: string
  price: Price
  /** The first day on which it holds no more. */
  until?: string
}

/** What all of a request costs once its input is longer, as a multiple. */
const longer = (
  { input, cachedInput, output }: Rates,
  aboveInputTokens: number,
  times: { input: number; output: number },
): Price => ({
  input,
  output,
  ...(cachedInput === undefined ? {} : { cachedInput }),
  long: {
    aboveInputTokens,
    input: input * times.input,
    output: output * times.output,
    ...(cachedInput === undefined ? {} : { cachedInput: cachedInput * times.input }),
  },
})

const of = (input: number, cachedInput: number | undefined, output: number): Rates => ({
  input,
  output,
  ...(cachedInput === undefined ? {} : { cachedInput }),
})

/** Since GPT-5.6: twice the input's and one and a half times the output's price beyond 272,000. */
const gpt = (...rates: Parameters<typeof of>) =>
  longer(of(...rates), 272_000, { input: 2, output: 1.5 })
/** Both double from 200,000 on. */
const grok = (...rates: Parameters<typeof of>) =>
  longer(of(...rates), 199_999, { input: 2, output: 2 })

/** https://developers.openai.com/api/docs/pricing */
const OPENAI: Entry[] = [
  { model: 'gpt-6\\.2-astra', price: gpt(8, 0.4, 40) },
  { model: 'gpt-6\\.2-sol', price: gpt(2, 0.1, 10) },
  { model: 'gpt-6\\.1-sol', price: gpt(2, 0.1, 10) },
  { model: 'gpt-6\\.1-terra', price: gpt(1, 0.05, 5) },
  { model: 'gpt-6-astra', price: gpt(10, 1, 50) },
  { model: 'gpt-6-sol', price: gpt(2, 0.2, 10) },
  { model: 'gpt-6-luna', price: gpt(0.1, 0.01, 0.5) },
  { model: 'gpt-5\\.6(-sol)?', price: gpt(4, 0.4, 20) },
  { model: 'gpt-5\\.6-terra', price: gpt(2, 0.2, 12) },
  { model: 'gpt-5\\.6-luna', price: gpt(0.2, 0.02, 1.2) },
  { model: 'gpt-5\\.5', price: of(5, 0.5, 30) },
  { model: 'gpt-5\\.5-pro', price: of(30, undefined, 180) },
  { model: 'gpt-5\\.4', price: of(2.5, 0.25, 15) },
  { model: 'gpt-5\\.4-mini', price: of(0.75, 0.075, 4.5) },
  { model: 'gpt-5\\.4-nano', price: of(0.2, 0.02, 1.25) },
  { model: 'gpt-5\\.2', price: of(1.75, 0.175, 14) },
  { model: 'gpt-5\\.1|gpt-5', price: of(1.25, 0.125, 10) },
  { model: 'gpt-5-mini', price: of(0.25, 0.025, 2) },
  { model: 'gpt-5-nano', price: of(0.05, undefined, 0.4) },
]

/** https://platform.claude.com/docs/en/about-claude/pricing */
const ANTHROPIC: Entry[] = [
  { model: 'claude-(fable|mythos)-5-1', price: of(10, 0.25, 50) },
  { model: 'claude-(fable|mythos)-5', price: of(10, 1, 50) },
  { model: 'claude-opus-5-5', price: of(4, 0.2, 20) },
  { model: 'claude-opus-(5|4-[5-8])', price: of(5, 0.5, 25) },
  { model: 'claude-opus-4(-[01])?', price: of(15, 1.5, 75) },
  { model: 'claude-sonnet-5-5', price: of(2, 0.1, 10) },
  { model: 'claude-sonnet-5', price: of(2, 0.2, 10) },
  { model: 'claude-sonnet-4(-[056])?', price: of(3, 0.3, 15) },
  {
    model: 'claude-haiku-5-5',
    price: longer(of(0.1, 0.01, 0.5), 100_000, { input: 5, output: 5 }),
  },
  { model: 'claude-haiku-4-5', price: of(1, 0.1, 5) },
  { model: 'claude-3-5-haiku', price: of(0.8, 0.08, 4) },
]

/** https://ai.google.dev/gemini-api/docs/pricing */
const GOOGLE: Entry[] = [
  { model: 'gemini-4-neon', price: of(3, 0.15, 15) },
  { model: 'gemini-4-hydrogen', price: of(1.5, 0.075, 7.5) },
  { model: 'gemini-3\\.[678]-flash', price: of(0.75, 0.075, 3.75), until: '2027-01-01' },
  { model: 'gemini-3\\.[678]-flash', price: of(1.5, 0.15, 7.5) },
  { model: 'gemini-3\\.5-flash', price: of(1.5, undefined, 9) },
  { model: 'gemini-3\\.5-flash-lite', price: of(0.3, 0.03, 2.5) },
  {
    model: 'gemini-3\\.1-pro',
    price: longer(of(2, undefined, 12), 200_000, { input: 2, output: 1.5 }),
  },
  { model: 'gemini-3\\.1-flash-lite', price: of(0.25, undefined, 1.5) },
]

/** https://docs.x.ai/docs/models */
const XAI: Entry[] = [
  { model: 'grok-4\\.[567]', price: grok(2, 0.5, 6) },
  { model: 'grok-4\\.(3|20(-\\d{4})?(-(non-)?reasoning)?)', price: grok(1.25, 0.2, 2.5) },
  { model: 'grok-build-0\\.1', price: of(1, undefined, 2) },
]

/** A rehearsal costs nothing. */
const REHEARSAL: Entry[] = [{ model: '.*', price: of(0, 0, 0) }]

const LISTS: Record<string, Entry[]> = {
  openai: OPENAI,
  anthropic: ANTHROPIC,
  google: GOOGLE,
  xai: XAI,
  rehearsal: REHEARSAL,
}

/** What names of one model end in: its date or its stage. */
const SUFFIX = '(-latest|-preview|-\\d{3,4}|-\\d{8}|-\\d{4}-\\d{2}-\\d{2})*'

/** What a provider asks for a model on a day, as far as the list knows. */
export const listPrice = (
  { provider, name }: { provider: string; name: string },
  day: string,
): Price | undefined => {
  const list = Object.hasOwn(LISTS, provider) ? LISTS[provider] : undefined
  return list?.find(
    ({ model, until }) =>
      new RegExp(`^(${model})${SUFFIX}$`).test(name) && (until === undefined || day < until),
  )?.price
}
