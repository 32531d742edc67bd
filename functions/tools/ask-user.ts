import * as z from 'zod'
import {
  MAX_OPTION_CHARS,
  MAX_OPTIONS,
  MAX_QUESTION_CHARS,
  MAX_TIMEOUT_SECONDS,
  MIN_TIMEOUT_SECONDS,
} from '../../lib/call/question.ts'
import { AppError } from '../../lib/core/errors.ts'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { result } from '../../lib/tool/result.ts'
import { setting } from '../../lib/tool/setting.ts'

/** How long a question waits where nobody says. */
const DEFAULT_TIMEOUT_MINUTES = 30

export const tool = defineTool({
  name: 'ask_user',
  description:
    'Asks the people you work for. The task waits for their answer; what you can find out or decide yourself you do without them.',
  displayName: 'Ask the user',
  category: 'system',
  icon: 'help-circle',
  settings: {
    timeout_minutes: setting.number({
      label: 'How long a question waits, in minutes',
      description: 'Where the agent says nothing else.',
      default: DEFAULT_TIMEOUT_MINUTES,
    }),
  },
  operations: {
    ask: {
      description: 'Put one question, with answers to choose from where there are some.',
      parameters: z.object({
        question: z
          .string()
          .min(1)
          .max(MAX_QUESTION_CHARS)
          .describe('The question, with all that is needed to answer it.'),
        options: z
          .array(z.string().min(1).max(MAX_OPTION_CHARS))
          .min(2)
          .max(MAX_OPTIONS)
          .optional()
          .describe('Answers to choose from; another one may be given all the same.'),
        timeout_seconds: z
          .int()
          .min(MIN_TIMEOUT_SECONDS)
          .max(MAX_TIMEOUT_SECONDS)
          .optional()
          .describe('How long to wait; then you are told that nobody answered.'),
      }),
      effect: 'idempotent',
      // The question itself stands in the call; notices go out with this sentence alone.
      describe: () => 'Ask a person',
      execute: ({ parameters: { question, options, timeout_seconds }, settings, task }) => {
        if (!task) throw new AppError('BAD_REQUEST', 'Only a task can ask someone.')
        const timeoutSeconds = timeout_seconds ?? settings.timeout_minutes * 60
        return result({
          content: 'The question was put; the answer follows.',
          question: { text: question, options, timeoutSeconds },
        })
      },
    },
  },
})

export const handler = serve(tool)
