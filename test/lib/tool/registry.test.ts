import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../../lib/tool/define.ts'
import { allTools, findTool } from '../../../lib/tool/registry.ts'

const dice = defineTool({
  name: 'dice',
  description: 'Rolls dice.',
  operations: {
    roll: {
      description: 'Roll.',
      parameters: z.object({}),
      describe: () => 'Roll',
      execute: () => 4,
    },
  },
})
const load = async () => ({ tool: dice })

describe('the list of tools', () => {
  it('finds a tool by its name, and none by another', async () => {
    expect(await findTool({ dice: load }, 'dice')).toBe(dice)
    expect(await findTool({ dice: load }, 'constructor')).toBeUndefined()
    expect(await allTools({ dice: load })).toEqual([dice])
  })

  it('refuses a tool that is listed under another name than its own', async () => {
    const wrong = { dise: load }
    const message = 'The tool "dice" is listed as "dise"'
    await expect(findTool(wrong, 'dise')).rejects.toThrow(message)
    await expect(allTools(wrong)).rejects.toThrow(message)
  })
})
