import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Origin } from '../../../lib/call/propose.ts'
import { resultOf } from '../../../lib/call/receipt.ts'
import { defineTool, type Operation, type Tool } from '../../../lib/tool/define.ts'
import { toolSchema } from '../../../lib/tool/schema.ts'
import { FIND_TOOLS } from '../../../lib/tool/search.ts'
import { type Conversation, callIdsOf } from '../../../lib/workflow/conversation.ts'
import {
  MAX_FOUND_TOKENS,
  MAX_OFFERED_OPERATIONS,
  offersOf,
  searchCall,
} from '../../../lib/workflow/discovery.ts'
import type { Candidate, Catalogue } from '../../../lib/workflow/offer.ts'

const toolOf = (name: string, operations: number, parameters: z.ZodObject): Tool =>
  defineTool({
    name,
    description: 'Writes bills.',
    operations: Object.fromEntries(
      Array.from({ length: operations }, (_, index) => [
        `bill_${index}`,
        { description: 'Bills.', parameters, describe: () => 'Bill', execute: () => 'billed' },
      ]),
    ),
  })

const catalogueOf = (tools: Tool[]): Catalogue =>
  new Map(
    tools.map((tool): [string, Candidate] => {
      const enabled = Object.values(tool.operations)
      const offer = (only: Operation[]) => ({
        tool,
        enabled: only,
        forModel: {
          name: tool.name,
          description: tool.description,
          inputSchema: toolSchema(tool, only),
        },
        fromWire: (values: Record<string, unknown>) => values,
      })
      return [tool.name, { tool, enabled, whole: offer(enabled), offer }]
    }),
  )

const NOTHING_SAID: Conversation = { entries: [], calls: new Map(), summaries: [] }
const namesFor = async (operations: number) => {
  const { forModel } = await offersOf(
    catalogueOf([toolOf('tiny', operations, z.object({}))]),
    NOTHING_SAID,
  )
  return forModel.map(({ name }) => name)
}

test('hundreds of operations are looked for, however short they are', async () => {
  expect(await namesFor(MAX_OFFERED_OPERATIONS)).toEqual(['tiny'])
  expect(await namesFor(MAX_OFFERED_OPERATIONS + 1)).toEqual([FIND_TOOLS])
})

const long = z.object({ text: z.string().describe('What to put on the bill. '.repeat(100)) })
const origin = { id: 'call_1', meta: {} } as unknown as Origin
const owner = { agentId: 'agent_1', principalId: 'user_1' } as const

test('of what was found a model is told to call what it is offered, and to look for the rest', async () => {
  const catalogue = catalogueOf(['a', 'b', 'c'].map(name => toolOf(name, 1, long)))
  const values = { query: 'write a bill' }
  const call = await searchCall(origin, owner as never, { catalogue, values })
  const content = (await resultOf(call))?.content ?? ''
  const [callable = '', others = ''] = content.split('There was no room')
  const step = { type: 'tool-call', toolCallId: '1', toolName: FIND_TOOLS, input: '{}' }
  const entry = {
    taskId: 'task_1',
    seq: 1,
    content: { role: 'assistant', parts: [{ ...step, state: 'complete' }] },
  } as unknown as Conversation['entries'][number]
  const calls = new Map(callIdsOf(entry).map(id => [id, call]))
  const many = new Map([...catalogue, ...catalogueOf([toolOf('tiny', 300, z.object({}))])])
  const { forModel } = await offersOf(many, { entries: [entry], calls, summaries: [] })
  const told = (text: string) => [...text.matchAll(/^- (\w+) /gm)].map(([, name]) => name)
  expect(forModel.slice(1).map(({ name }) => name)).toEqual(told(callable))
  expect(JSON.stringify(forModel).length / 3).toBeLessThan(MAX_FOUND_TOKENS)
  expect(told(callable)).not.toHaveLength(0)
  expect(told(others)).not.toHaveLength(0)
  expect([...told(callable), ...told(others)].toSorted()).toEqual(['a', 'b', 'c'])
})
