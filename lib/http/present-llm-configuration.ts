import * as z from 'zod'
import type { LlmConfiguration } from '../llm/configuration.ts'
import { Provider } from '../llm/model-reference.ts'
import type { Rates } from '../llm/price.ts'
import { MASK } from '../settings/layer.ts'
import { ConfigurationOwner } from './llm-configuration-body.ts'
import { LlmConfigurationId, Time } from './wire.ts'

const PriceView = z
  .object({
    input: z.number(),
    cached_input: z.number().nullable().describe('Null: as other input.'),
    output: z.number(),
  })
  .meta({ id: 'ModelPrice', description: 'In US dollars for a million tokens.' })

export const LlmConfigurationView = z
  .object({
    id: LlmConfigurationId,
    owner: ConfigurationOwner,
    name: z.string(),
    provider: Provider,
    model: z.string(),
    base_url: z.string().nullable().describe('Null: the provider’s own address.'),
    api_key: z.literal(MASK).nullable().describe('Null: the instance’s own key is used.'),
    price: PriceView.nullable().describe('Null: what the provider’s list says, if it is on one.'),
    agents: z.int().describe('How many agents use it.'),
    version: z.int().describe('Rises with each change; the ETag repeats it.'),
    created_at: Time,
    updated_at: Time,
    updated_by: z.string(),
  })
  .meta({
    id: 'LlmConfiguration',
    description: 'A model, where it is, and the key that it asks for.',
  })

/** A configuration on the wire, without its key. */
export const presentConfiguration = (
  configuration: LlmConfiguration,
): z.infer<typeof LlmConfigurationView> => ({
  id: configuration.id,
  owner: configuration.owner,
  name: configuration.name,
  provider: configuration.provider,
  model: configuration.model,
  base_url: configuration.baseUrl ?? null,
  api_key: configuration.apiKey === undefined ? null : MASK,
  price: presentPrice(configuration.price),
  agents: configuration.agents,
  version: configuration.version,
  created_at: configuration.createdAt,
  updated_at: configuration.updatedAt,
  updated_by: configuration.updatedBy,
})

const presentPrice = (price: Rates | undefined): z.infer<typeof PriceView> | null =>
  price === undefined
    ? null
    : { input: price.input, cached_input: price.cachedInput ?? null, output: price.output }
