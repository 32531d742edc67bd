import * as z from 'zod'
import { DEFAULT_MAX_STEPS, MAX_MAX_STEPS } from '../agent/agent.ts'
import { ModelReference } from '../llm/model-reference.ts'

/** Lengths, in characters: a name fits a line, a system prompt an item. */
const MAX_NAME_CHARS = 100
const MAX_DESCRIPTION_CHARS = 1_000
const MAX_SYSTEM_PROMPT_CHARS = 50_000

const Name = z
  .string()
  .trim()
  .min(1)
  .max(MAX_NAME_CHARS)
  .describe(`At most ${MAX_NAME_CHARS} characters, without blanks around it.`)

export const AgentBody = z
  .strictObject({
    name: Name,
    description: z.string().max(MAX_DESCRIPTION_CHARS).optional(),
    system_prompt: z.string().max(MAX_SYSTEM_PROMPT_CHARS).default(''),
    model: z
      .strictObject({
        provider: ModelReference.shape.provider,
        name: ModelReference.shape.name,
        base_url: ModelReference.shape.baseUrl
          .optional()
          .describe(
            'For admins; needed with "openai-compatible", which has no address of its own.',
          ),
      })
      .refine(
        ({ provider, base_url }) => provider !== 'openai-compatible' || base_url !== undefined,
        {
          path: ['base_url'],
          message: 'is needed: an "openai-compatible" model has no address of its own',
        },
      ),
    max_steps: z.int().min(1).max(MAX_MAX_STEPS).default(DEFAULT_MAX_STEPS),
  })
  .meta({
    id: 'NewAgent',
    examples: [{ name: 'Ada', model: { provider: 'rehearsal', name: 'script' } }],
  })

const override = () => z.boolean().nullish().describe('Null inherits again; absent, it stays.')

export const OverrideBody = z
  .strictObject({ enabled: override(), requires_approval: override() })
  .meta({ id: 'Override' })

/** A time as every stored one is written, so that they compare as texts. */
const StoredTime = z.iso.datetime().transform(text => new Date(text).toISOString())

export const KeyBody = z
  .strictObject({ name: Name, expires_at: StoredTime.optional() })
  .meta({ id: 'NewKey', examples: [{ name: 'Of the nightly job' }] })
