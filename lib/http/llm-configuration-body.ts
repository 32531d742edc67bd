import * as z from 'zod'
import type { ConfigurationFields } from '../llm/configuration.ts'
import { ModelReference } from '../llm/model-reference.ts'
import type { Rates } from '../llm/price.ts'
import { MASK } from '../settings/layer.ts'
import { AgentId, Name, PrincipalId } from './wire.ts'

/** A key's length, in characters; those of providers have up to about two hundred. */
const MIN_KEY_CHARS = 4
const MAX_KEY_CHARS = 4_096

/** Sent in a header, so of the characters that one may hold. */
const ApiKey = z
  .string()
  .min(MIN_KEY_CHARS)
  .max(MAX_KEY_CHARS)
  .regex(/^[\x21-\x7e]+$/, 'must be of visible ASCII characters, without blanks')

export const ConfigurationOwner = z
  .union([z.literal('global'), PrincipalId, AgentId])
  .meta({ id: 'LlmConfigurationOwner', description: 'Everyone’s, a principal’s or an agent’s.' })

/** More than any model asks for a million tokens, by far. */
export const MAX_RATE_USD = 100_000
const Rate = z.number().min(0).max(MAX_RATE_USD)

const PriceBody = z
  .strictObject({
    input: Rate,
    cached_input: Rate.optional().describe(
      'Input that the provider still had; as input, if not said.',
    ),
    output: Rate,
  })
  .meta({
    id: 'NewModelPrice',
    description:
      'What the model costs, in US dollars for a million tokens; it goes before any list.',
    examples: [{ input: 2, cached_input: 0.2, output: 10 }],
  })

const priceOf = (body: z.infer<typeof PriceBody>): Rates => {
  const { input, cached_input: cachedInput, output } = body
  return { input, ...(cachedInput === undefined ? {} : { cachedInput }), output }
}

const fields = {
  name: Name,
  provider: ModelReference.shape.provider,
  model: ModelReference.shape.name.describe('The model’s own name.'),
  base_url: ModelReference.shape.baseUrl.optional(),
  price: PriceBody.optional(),
}

export const LlmConfigurationBody = z
  .strictObject({
    owner: ConfigurationOwner.optional().describe('Whose it is: the caller’s own, if not said.'),
    ...fields,
    api_key: ApiKey.optional().describe(
      'Kept encrypted, and shown to nobody. Absent, the instance’s own key for the provider is used.',
    ),
  })
  .meta({
    id: 'NewLlmConfiguration',
    examples: [{ name: 'Ours', provider: 'openai', model: 'gpt-5', api_key: 'the-key' }],
  })

export const LlmConfigurationPatch = z
  .strictObject({
    ...z.object(fields).partial().shape,
    base_url: fields.base_url.nullable(),
    price: PriceBody.nullish(),
    api_key: z
      .union([ApiKey, z.literal(MASK)])
      .nullish()
      .describe(
        '*** keeps what there is; another provider or base URL needs it anew. Null takes it away.',
      ),
  })
  .meta({ id: 'LlmConfigurationChange', examples: [{ model: 'gpt-5-mini' }] })

/** What a body says of a configuration, in our own words. */
export const configurationFieldsOf = (
  body: z.infer<typeof LlmConfigurationPatch>,
): Partial<ConfigurationFields> => {
  const { name, provider, model, base_url: baseUrl, api_key: apiKey } = body
  const price = body.price ? priceOf(body.price) : body.price
  const said = { name, provider, model, baseUrl, apiKey, price }
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
}
