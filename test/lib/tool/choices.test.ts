import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { choiceProblems, choicesOf } from '../../../lib/tool/choices.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { toolSchema } from '../../../lib/tool/schema.ts'
import { setting } from '../../../lib/tool/setting.ts'

const [ada, bob] = [`agent_${'A'.repeat(26)}`, `agent_${'B'.repeat(26)}`]
const run = { effect: 'read', describe: () => 'Go', execute: () => 1 } as const

const tool = defineTool({
  name: 'post',
  description: 'Sends letters.',
  settings: {
    helpers: setting.multiSelect({ label: 'Helpers', resolveAs: 'agent', enumFor: 'helper' }),
    colors: setting.multiSelect({ label: 'Colors', enumFor: 'colors' }),
  },
  operations: {
    send: {
      ...run,
      description: 'Send.',
      parameters: z.object({
        helper: z.string().describe('Who helps.'),
        colors: z.array(z.string()).optional(),
        text: z.string(),
      }),
    },
  },
})
const operations = Object.values(tool.operations)
const label = (id: string) => (id === ada ? `Ada (${id})` : `#${id}`)
const schemaFor = (values: { helpers?: string[]; colors?: string[] }) =>
  toolSchema(tool, operations, { choices: choicesOf(tool, values), label }).properties

describe('a parameter whose values a setting lists', () => {
  it('offers those alone, by their ids, and tells their names', () => {
    expect(schemaFor({ helpers: [ada, bob], colors: ['red'] })).toMatchObject({
      helper: {
        type: 'string',
        enum: [ada, bob],
        description: `Who helps. From "Helpers": Ada (${ada}), #${bob}.`,
      },
      colors: {
        type: 'array',
        items: { type: 'string', enum: ['red'] },
        description: 'From "Colors": red.',
      },
    })
  })

  it('takes what its own schema takes while the setting is unset', () => {
    expect(schemaFor({})).toEqual(toolSchema(tool, operations).properties)
    expect(choiceProblems(choicesOf(tool, {}), { helper: 'anyone' })).toEqual([])
  })

  it('can be nothing once the setting is an empty list, and says so', () => {
    const { helper } = schemaFor({ helpers: [] })
    expect(helper).toEqual({ type: 'string', description: 'Who helps. From "Helpers": none.' })
    expect(choiceProblems(choicesOf(tool, { helpers: [] }), { helper: ada })).toEqual([
      { field: 'helper', message: 'must be of those under "Helpers": none.' },
    ])
  })

  it('is checked as it is offered, every wrong one at once', () => {
    const choices = choicesOf(tool, { helpers: [ada], colors: ['red', 'blue'] })
    expect(choiceProblems(choices, { helper: ada, colors: ['red', 'blue'] })).toEqual([])
    expect(choiceProblems(choices, { helper: ada })).toEqual([])
    expect(choiceProblems(choices, { helper: bob, colors: ['red', 'green'] })).toEqual([
      { field: 'helper', message: `must be of those under "Helpers": ${ada}.` },
      { field: 'colors', message: 'must be of those under "Colors": red, blue.' },
    ])
  })
})

describe('a declaration', () => {
  const declare = (
    options: { type?: 'text' | 'multiSelect'; enumFor: string; twice?: boolean },
    helper: z.ZodType = z.string(),
  ) =>
    defineTool({
      name: 'post',
      description: 'Sends letters.',
      settings: {
        helpers: (options.type === 'text' ? setting.text : setting.multiSelect)({
          label: 'Helpers',
          enumFor: options.enumFor,
        }),
        ...(options.twice
          ? { more: setting.multiSelect({ label: 'More', enumFor: options.enumFor }) }
          : {}),
      },
      operations: { send: { ...run, description: 'Send.', parameters: z.object({ helper }) } },
    })

  it.each([
    [{ enumFor: 'nobody' }, z.string(), 'is no parameter of any operation'],
    [{ enumFor: 'helper' }, z.int(), 'must be a text or a list of texts'],
    [{ enumFor: 'helper' }, z.array(z.int()), 'must be a text or a list of texts'],
    [{ enumFor: 'helper', type: 'text' as const }, z.string(), 'make it a multi-select'],
    [{ enumFor: 'helper', twice: true }, z.string(), 'another setting does so, too'],
  ])('%j for a parameter that does not fit is refused', (options, schema, why) => {
    expect(() => declare(options, schema)).toThrow(
      expect.objectContaining({
        code: 'INVALID_DEFINITION',
        message: expect.stringContaining(why),
      }),
    )
  })

  it('of a list for a text or a list of texts is taken', () => {
    expect(() => declare({ enumFor: 'helper' })).not.toThrow()
    expect(() => declare({ enumFor: 'helper' }, z.array(z.string()).optional())).not.toThrow()
  })
})
