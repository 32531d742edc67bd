import * as z from 'zod'
import { cut } from '../../lib/core/clip.ts'
import { AppError } from '../../lib/core/errors.ts'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'

/** One part of a result, in characters: the least, the default and the most. */
const MIN_PART_CHARS = 100
const DEFAULT_PART_CHARS = 20_000
const MAX_PART_CHARS = 80_000

export const tool = defineTool({
  name: 'tool_results',
  description: 'Reads results of tools that were too long to show at once.',
  displayName: 'Tool results',
  category: 'system',
  icon: 'scroll-text',
  operations: {
    read: {
      description: 'Read a part of a long result.',
      parameters: z.object({
        full_output: z.string().describe('What the shortened result says under full_output.'),
        offset: z.int().min(0).default(0).describe('The first character to read, from 0.'),
        max_chars: z.int().min(MIN_PART_CHARS).max(MAX_PART_CHARS).default(DEFAULT_PART_CHARS),
      }),
      effect: 'read',
      touches: ['results'],
      describe: ({ full_output, offset }) => `Read ${full_output} from character ${offset}`,
      execute: async ({ parameters: { full_output, offset, max_chars }, agent }) => {
        const { readResult } = await import('./tool-results/read.ts')
        const text = await readResult(full_output, agent.id)
        if (offset > text.length)
          throw new AppError(
            'VALIDATION_ERROR',
            `The result has ${text.length} characters; there is nothing from ${offset} on.`,
          )
        const part = cut(text.slice(offset), max_chars)
        const next = offset + part.length
        return {
          text: part,
          total_chars: text.length,
          next_offset: next < text.length ? next : null,
        }
      },
    },
  },
})

export const handler = serve(tool)
