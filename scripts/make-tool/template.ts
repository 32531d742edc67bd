/** A tool to start from: one operation, one parameter and one setting, as most tools have them. */
export const toolTemplate = (name: string): string => `import * as z from 'zod'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'

export const tool = defineTool({
  name: '${name}',
  // A model chooses by it, so say when the tool is of use.
  description: 'Finds what is asked for.',
  // What operators set, for everyone, for an owner or for one agent.
  settings: {
    max_results: setting.number({ label: 'Most results', default: 10 }),
  },
  operations: {
    find: {
      description: 'Find something.',
      parameters: z.object({
        query: z.string().min(1).describe('What to look for.'),
      }),
      // What a second run does: nothing. Of one with an effect say 'idempotent' or 'once'.
      effect: 'read',
      // The sentence that a person reads before approving.
      describe: ({ query }) => \`Look for "\${query}"\`,
      execute: async ({ parameters, settings }) => {
        const everything = ['an apple', 'a pear', 'another pear']
        return everything
          .filter(one => one.includes(parameters.query))
          .slice(0, settings.max_results)
      },
    },
  },
})

export const handler = serve(tool)
`

export const testTemplate = (
  name: string,
  fileName: string,
): string => `import { expect, test } from 'vitest'
import { tool } from '../../../functions/tools/${fileName}.ts'
import { run } from './run.ts'

const find = (query: string, max_results = 10) =>
  run(tool, 'find', { query }, { settings: { max_results } })

test('${name} finds what is asked for', async () => {
  expect(await find('pear')).toEqual(['a pear', 'another pear'])
})

test('${name} tells no more than it is set to', async () => {
  expect(await find('pear', 1)).toEqual(['a pear'])
})

test('${name} wants to know what to look for', async () => {
  await expect(find('')).rejects.toThrow('query')
})
`
