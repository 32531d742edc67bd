import * as z from 'zod'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { FORMATS, FUNCTIONS, OWN_UNITS, RESULT_DIGITS } from './calculator/names.ts'

/** Characters of a call's expressions together. */
const MAX_EXPRESSION_CHARS = 4_000

export const tool = defineTool({
  name: 'calculator',
  description:
    'Calculates: whole numbers and fractions exactly, everything else with ' +
    `${RESULT_DIGITS} digits (15 for complex numbers). Use it for every calculation.`,
  displayName: 'Calculator',
  category: 'general',
  icon: 'calculator',
  operations: {
    calculate: {
      description: 'The value of an expression, or of several that build on each other.',
      parameters: z.object({
        expression: z
          .string()
          .min(1)
          .max(MAX_EXPRESSION_CHARS)
          .describe(
            'An expression such as (17.5 + 3)^2 / 4, 15% of 80, 100 + 20%, 0xff & 0b1010, ' +
              'mean([1, 2, 3]), [[1, 2], [3, 4]] * [5, 6], 5 inch to cm, 20 °C to °F or sin(90 deg). ' +
              'Several stand one a line, and "net = 80 * 3" names a value for the lines after it. ' +
              'Constants: pi, e, tau, phi, i. Units: SI and common ones with their prefixes, ' +
              `${Object.keys(OWN_UNITS).join(', ')}. Functions: ${FUNCTIONS}, ln.`,
          ),
        format: z
          .enum(FORMATS)
          .default('decimal')
          .describe('How to write the value: 3/8 as 0.375, 3.75e-1, 3/8 or 37.5%; 255 as 0xff.'),
        decimals: z
          .int()
          .min(0)
          .max(RESULT_DIGITS)
          .optional()
          .describe('Digits after the point; as many as it takes if left out.'),
      }),
      effect: 'read',
      describe: ({ expression }) => `Calculate ${expression}`,
      execute: async ({ parameters: { expression, format, decimals } }) => {
        const { calculate } = await import('./calculator/evaluate.ts')
        return calculate(expression, { format, decimals })
      },
    },
  },
})

export const handler = serve(tool)
