import * as z from 'zod'
import { AgentView } from './present-agent.ts'

const FIELDS = AgentView.keyof()

/** What a list shows of each agent: fields by name, such as a picker's `id,name`. */
export const AgentSelection = z
  .string()
  .transform(text => text.split(',').map(field => field.trim()))
  .pipe(z.array(FIELDS))
  .describe(`Fields of an agent, with commas between them: ${FIELDS.options.join(', ')}.`)

export const SelectedAgent = AgentView.partial().meta({
  id: 'SelectedAgent',
  description: 'As much of an agent as was asked for.',
})

/** These fields of an agent, in the agent's own order. */
export const selected = (
  agent: AgentView,
  fields: z.output<typeof AgentSelection>,
): z.infer<typeof SelectedAgent> =>
  Object.fromEntries(
    Object.entries(agent).filter(([field]) => (fields as string[]).includes(field)),
  )
