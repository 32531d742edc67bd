import * as z from 'zod'
import type { Source } from '../settings/rotate.ts'
import { LlmConfiguration } from './configuration.ts'
import { placeOf } from './configuration-key.ts'

const Sealing = z.object(LlmConfiguration.shape).pick({ id: true, owner: true, apiKey: true })

/** The keys of LLM configurations, for their rotation. */
export const configurationSource: Source = {
  prefix: 'llm_',
  sealedIn: row => {
    const { apiKey, ...configuration } = Sealing.parse(row)
    if (apiKey === undefined) return []
    return [
      {
        attribute: 'apiKey',
        sealed: apiKey,
        place: placeOf(configuration),
        replaced: sealed => sealed,
        isSecret: true,
      },
    ]
  },
}
