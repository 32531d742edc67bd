import * as z from 'zod'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'

export const tool = defineTool({
  name: 'dice',
  description: 'Rolls dice.',
  settings: { sides: setting.number({ label: 'Sides', default: 6, exposeToLlm: true }) },
  operations: {
    roll: {
      description: 'Roll some dice.',
      parameters: z.object({ count: z.int().min(1).max(20).describe('How many dice.') }),
      effect: 'read',
      describe: ({ count }) => `Roll ${count} dice`,
      execute: ({ parameters, settings }) =>
        Array.from({ length: parameters.count }, () => Math.ceil(Math.random() * settings.sides)),
    },
  },
})

export const handler = serve(tool)
