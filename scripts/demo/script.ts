import { AppError } from '../../lib/core/errors.ts'
import { ModelReference, parseModel } from '../../lib/llm/model-reference.ts'
import { keyVariable } from '../../lib/llm/provider.ts'

/** What the demo plays with: a model, and what is asked of it. */
export type Script = {
  model: ModelReference
  isRehearsal: boolean
  plannerPrompt: (writerId: string) => string
  /** What the operator makes of the prompt that the planner wrote for the writer. */
  edit: (prompt: string) => string
}

const TITLE = 'A note, reviewed by the operator'

/**
 * The rehearsal, or where `ESPALIER_MODEL` names a model (`openai/gpt-…`) and its key is set, that
 * model.
 */
export const chooseScript = (env: NodeJS.ProcessEnv = process.env): Script => {
  const name = env.ESPALIER_MODEL
  if (!name) return rehearsal
  const named = parseModel(name)
  const model = env.ESPALIER_MODEL_BASE_URL
    ? ModelReference.parse({ ...named, baseUrl: env.ESPALIER_MODEL_BASE_URL })
    : named
  const variable = keyVariable(model.provider)
  if (variable && !env[variable] && model.provider !== 'openai-compatible')
    throw new AppError(
      'NOT_CONFIGURED',
      `ESPALIER_MODEL is ${name}, so ${variable} must hold a key. Without both, the demo rehearses.`,
    )
  return model.provider === 'rehearsal' ? rehearsal : { ...real, model }
}

/** A rehearsal makes exactly the calls that these lines spell out. */
const rehearsal: Script = {
  model: { provider: 'rehearsal', name: 'script' },
  isRehearsal: true,
  plannerPrompt: writerId =>
    [
      'Find out the time and 17 times 24, then have the writer make a note of both.',
      '',
      '/time now {}',
      '/calculator calculate {"expression": "17 * 24"}',
      '',
      `/sub_agent sub_agent ${JSON.stringify({
        target_agent_id: writerId,
        prompt: 'Write a note: it is {{1.date_time}}, and 17 * 24 is {{2}}.',
      })}`,
    ].join('\n'),
  edit: prompt =>
    [
      prompt,
      '',
      `/media create_media ${JSON.stringify({
        filename: 'note.md',
        content: `# ${TITLE}\n\n${prompt}\n`,
        mime_type: 'text/markdown',
      })}`,
      '',
      '/media get_public_url {"media_id": "{{1.media_id}}"}',
    ].join('\n'),
}

const real: Omit<Script, 'model'> = {
  isRehearsal: false,
  plannerPrompt: writerId =>
    [
      'Find out the current time with the tool "time" and the product of 17 and 24 with the tool',
      '"calculator". Then call "sub_agent" once, with the operation sub_agent and target_agent_id',
      `${writerId}, and ask it to store a short Markdown note that holds both results and to make a`,
      'public link to it. When it has answered, repeat its link.',
    ].join(' '),
  edit: prompt =>
    `${prompt}\n\nTitle the note "${TITLE}". Store it with media create_media, then call media get_public_url.`,
}
