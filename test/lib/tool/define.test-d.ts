/** What must compile, and what must not: checked by `tsc`, never run. */
import { expectTypeOf } from 'vitest'
import * as z from 'zod'
import type { Id } from '../../../lib/core/ids.ts'
import { defineTool, type Tool } from '../../../lib/tool/define.ts'
import { setting } from '../../../lib/tool/setting.ts'

const text = { name: 'mail', description: 'Sends mail.' } as const
const operation = { description: 'Sends.', describe: () => 'Send', execute: () => 'sent' }

const tool = defineTool({
  ...text,
  settings: {
    sender: setting.text({ label: 'Sender', default: 'x' }),
    signature: setting.textarea({ label: 'Signature' }),
    token: setting.password({ label: 'Token', required: true }),
    limit: setting.number({ label: 'Limit' }),
    urgent: setting.toggle({ label: 'Urgent', default: false }),
    format: setting.select({ label: 'Format', options: ['html', 'text'] }),
    box: setting.select({ label: 'Box' }),
    folders: setting.multiSelect({ label: 'Folders', default: ['in'], options: ['in', 'out'] }),
  },
  available: ({ settings }) => {
    expectTypeOf(settings.token).toEqualTypeOf<string>()
    return settings.urgent
  },
  operations: {
    send: {
      description: 'Sends.',
      parameters: z.object({ to: z.string(), copies: z.int().default(1) }),
      describe: parameters => {
        expectTypeOf(parameters).toEqualTypeOf<{ to: string; copies: number }>()
        return `Send to ${parameters.to}`
      },
      execute: async ({ parameters, settings, agent, principal }) => {
        expectTypeOf(parameters).toEqualTypeOf<{ to: string; copies: number }>()
        expectTypeOf(settings.sender).toEqualTypeOf<string>()
        expectTypeOf(settings.signature).toEqualTypeOf<string | undefined>()
        expectTypeOf(settings.token).toEqualTypeOf<string>()
        expectTypeOf(settings.limit).toEqualTypeOf<number | undefined>()
        expectTypeOf(settings.urgent).toEqualTypeOf<boolean>()
        expectTypeOf(settings.folders).toEqualTypeOf<('in' | 'out')[]>()
        expectTypeOf(settings.format).toEqualTypeOf<'html' | 'text' | undefined>()
        expectTypeOf(settings.box).toEqualTypeOf<string | undefined>()
        // @ts-expect-error: no option of that setting
        if (settings.format === 'pdf') return ''
        expectTypeOf(agent.id).toEqualTypeOf<Id<'agent'>>()
        expectTypeOf(principal.id).toEqualTypeOf<Id<'user'> | Id<'group'>>()
        // @ts-expect-error: a setting that nobody declared
        return settings.unknown
      },
    },
    list: {
      ...operation,
      parameters: z.object({ query: z.string().optional() }),
      execute: ({ parameters }) => {
        expectTypeOf(parameters.query).toEqualTypeOf<string | undefined>()
        // @ts-expect-error: a parameter of another operation
        return parameters.to
      },
    },
  },
})
expectTypeOf(tool).toExtend<Tool>()
expectTypeOf(tool.name).toEqualTypeOf<'mail'>()
expectTypeOf<z.infer<typeof tool.operations.send.parameters>>().toEqualTypeOf<{
  to: string
  copies: number
}>()
expectTypeOf(tool.settings.limit.type).toEqualTypeOf<'number'>()

// @ts-expect-error: an operation of another tool
tool.operations.forward

// @ts-expect-error: a setting of another tool
tool.settings.recipient

const acting = { ...operation, parameters: z.object({ action: z.string() }) }
// @ts-expect-error: a parameter with the name of the property that says which operation is meant
defineTool({ ...text, operations: { send: acting } })

defineTool({
  ...text,
  discriminator: 'op',
  operations: {
    // With another name for that property, the parameter may have it …
    send: { ...operation, parameters: z.object({ action: z.string() }) },
    // @ts-expect-error: … and not the other one
    list: { ...operation, parameters: z.object({ op: z.string() }) },
  },
})

/** Parameters that several operations, and several tools, take. */
const paging = { limit: z.int().default(20), cursor: z.string().optional() }

defineTool({
  ...text,
  settings: { sender: setting.text({ label: 'Sender', default: 'x' }) },
  middleware: [
    async (context, next) => {
      expectTypeOf(context.settings.sender).toEqualTypeOf<string>()
      // @ts-expect-error: what was approved is what runs
      context.parameters = {}
      // @ts-expect-error: whose arguments they are is known to the operation alone
      context.parameters.limit
      return next()
    },
  ],
  operations: {
    list: {
      ...operation,
      parameters: z.object({ ...paging, query: z.string() }),
      execute: ({ parameters }) => {
        expectTypeOf(parameters).toEqualTypeOf<{
          limit: number
          cursor?: string | undefined
          query: string
        }>()
      },
    },
  },
})

// @ts-expect-error: a tool has operations
defineTool({ ...text })

// @ts-expect-error: an operation has parameters
defineTool({ ...text, operations: { send: { ...operation } } })

// @ts-expect-error: parameters are an object
defineTool({ ...text, operations: { send: { ...operation, parameters: z.string() } } })

const complete = { ...operation, parameters: z.object({}) }
// @ts-expect-error: the effect is one of three
defineTool({ ...text, operations: { send: { ...complete, effect: 'sometimes' } } })

// @ts-expect-error: what nobody knows is no option of an operation
defineTool({ ...text, operations: { send: { ...complete, requiresApproval: true } } })

// @ts-expect-error: the category is one of the list
defineTool({ ...text, category: 'fun', operations: { send: complete } })

// @ts-expect-error: a number's default is a number
setting.number({ label: 'Limit', default: '5' })

// @ts-expect-error: a setting has a label
setting.text({ default: 'x' })

// @ts-expect-error: a task's id is no agent's
export const wrong: Id<'agent'> = 'task_01ARZ3NDEKTSV4RRFFQ69G5FAV' satisfies Id<'task'>
