import * as z from 'zod'
import type { LlmConfiguration } from '../llm/configuration.ts'
import { Provider } from '../llm/model-reference.ts'
import { MASK } from '../settings/layer.ts'
import { ConfigurationOwner, PriceBody, presentPrice } from './llm-configuration-body.ts'
import { LlmConfigurationId, Time } from './wire.ts'

export const LlmConfigurationView = z
  .object({
    id: LlmConfigurationId,
    owner: ConfigurationOwner,
    name: z.string(),
    provider: Provider,
    model: z.string(),
    base_url: z.string().nullable().describe('Null: the provider’s own address.'),
    api_key: z.literal(MASK).nullable().describe('Null: the instance’s own key is used.'),
    price: PriceBody.nullable().describe('Null: what the provider’s list says, if it is on one.'),
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
  price: configuration.price ? presentPrice(configuration.price) : null,
  agents: configuration.agents,
  version: configuration.version,
  created_at: configuration.createdAt,
  updated_at: configuration.updatedAt,
  updated_by: configuration.updatedBy,
})
