import * as z from 'zod'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { result } from '../../lib/tool/result.ts'

export const tool = defineTool({
  name: 'chart',
  description: 'Draws charts.',
  operations: {
    bars: {
      description: 'Draw bars.',
      parameters: z.object({ heights: z.array(z.int().min(1).max(100)).min(1).max(50) }),
      effect: 'idempotent',
      touches: ['media', 'bucket'],
      describe: ({ heights }) => `Draw ${heights.length} bars`,
      execute: ({ parameters: { heights } }) => {
        const bars = heights.map(
          (height, at) => `<rect x="${at * 10}" y="${100 - height}" width="8" height="${height}"/>`,
        )
        const svg = `<svg xmlns="http://www.w3.org/2000/svg">${bars.join('')}</svg>`
        return result({
          content: `The chart has ${heights.length} bars.`,
          media: [new File([svg], 'bars.svg', { type: 'image/svg+xml' })],
        })
      },
    },
  },
})

export const handler = serve(tool)
