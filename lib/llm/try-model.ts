import { AppError, hasCode } from '../core/errors.ts'
import type { LlmConfiguration } from './configuration.ts'
import { openConfigured } from './configured-model.ts'
import { generate } from './generate.ts'
import type { ModelErrorDetails, ModelErrorKind } from './model-error.ts'

/** What the model may answer: OpenAI's Responses API takes no less than 16. */
const ANSWER_TOKENS = 16
/** Less than the 29 seconds that whoever asks over HTTP waits. */
export const TRY_TIMEOUT_MS = 20_000

export type Trial =
  | { ok: true; milliseconds: number }
  | {
      ok: false
      milliseconds: number
      error: { code: string; kind: ModelErrorKind | null; message: string }
    }

/**
 * Asks a configuration's model for a word through its real driver, and says whether one came, or
 * what was in the way: never with the key, nor with what the provider said.
 */
export const tryModel = async (configuration: LlmConfiguration): Promise<Trial> => {
  const started = performance.now()
  const milliseconds = () => Math.round(performance.now() - started)
  try {
    const model = await openConfigured(configuration)
    await generate(model, {
      system: '',
      messages: [{ role: 'user', text: 'Say "ok".' }],
      tools: [],
      maxOutputTokens: ANSWER_TOKENS,
      signal: AbortSignal.timeout(TRY_TIMEOUT_MS),
    })
    return { ok: true, milliseconds: milliseconds() }
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'INTERNAL') throw error
    const kind = hasCode(error, 'MODEL_ERROR') ? (error.details as ModelErrorDetails).kind : null
    const { code, message } = error
    return { ok: false, milliseconds: milliseconds(), error: { code, kind, message } }
  }
}
