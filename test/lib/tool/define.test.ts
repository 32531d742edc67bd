import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../../lib/tool/define.ts'
import { MAX_RESULT_SIZE } from '../../../lib/tool/serialize.ts'
import { setting } from '../../../lib/tool/setting.ts'

const operation = (parameters: z.ZodObject = z.object({})) => ({
  description: 'Does something.',
  parameters,
  describe: () => 'Do something',
  execute: () => 'done',
})
const base = { name: 'mail', description: 'Sends mail.', operations: { send: operation() } }

test('what a declaration leaves out has a default', () => {
  const tool = defineTool({ ...base, name: 'web_search' })
  expect(tool).toMatchObject({
    displayName: 'Web search',
    category: 'general',
    discriminator: 'action',
    maxResultChars: 100_000,
    settings: {},
  })
  expect(tool.operations.send).toMatchObject({
    name: 'send',
    effect: 'once',
    enabledByDefault: true,
    requiresApprovalByDefault: false,
    decidedByDefault: 'admin',
    neverByStarterByDefault: false,
    touches: [],
  })
  expect(tool.available({ settings: {} })).toBe(true)
})

test('an argument that nobody declared is refused, not dropped', () => {
  const { operations } = defineTool({ ...base, operations: { send: operation(z.object({})) } })
  expect(operations.send?.parameters.safeParse({ to: 'x' }).success).toBe(false)
})

type Definition = Parameters<typeof defineTool>[0]

test.each<[string, Definition, RegExp]>([
  ['a name with capitals', { ...base, name: 'Mail' }, /its name must match/],
  ['a name with a colon', { ...base, name: 'plugin:mail' }, /its name must match/],
  [
    'a name that no provider takes',
    { ...base, name: 'm'.repeat(65) },
    /not one that models accept/,
  ],
  ['no operation', { ...base, operations: {} }, /declares no operation; add one/],
  [
    'an operation with a hyphen',
    { ...base, operations: { 'send-all': operation() } },
    /the operation "send-all" must match/,
  ],
  [
    'a parameter named as no provider allows',
    { ...base, operations: { send: operation(z.object({ 'to whom': z.string() })) } },
    /the parameter "to whom" of the operation "send" must match/,
  ],
  [
    'a parameter that takes the discriminator’s name',
    { ...base, operations: { send: operation(z.object({ action: z.string() })) } },
    /parameter "action", which names the operation\. Rename/,
  ],
  [
    'a parameter that takes the chosen discriminator’s name',
    {
      ...base,
      discriminator: 'what',
      operations: { send: operation(z.object({ what: z.string() })) },
    },
    /another discriminator/,
  ],
  ['a discriminator with a space', { ...base, discriminator: 'to do' }, /discriminator "to do"/],
  [
    'one parameter with two schemas',
    {
      ...base,
      operations: {
        send: operation(z.object({ to: z.string() })),
        list: operation(z.object({ to: z.int() })),
      },
    },
    /"send" and "list" give the parameter "to" different schemas\. Share one constant/,
  ],
  [
    'a password that models would see',
    { ...base, settings: { token: setting.password({ label: 'Token', exposeToLlm: true }) } },
    /the password "token" can't be exposed to a model; remove exposeToLlm/,
  ],
  [
    'a default that is none of the options',
    {
      ...base,
      settings: { mode: setting.select({ label: 'Mode', options: ['a', 'b'], default: 'c' }) },
    },
    /the default of the setting "mode" must be of: a, b/,
  ],
  [
    'a list of defaults with one that is none of the options',
    {
      ...base,
      settings: {
        modes: setting.multiSelect({ label: 'Modes', options: ['a'], default: ['a', 'c'] }),
      },
    },
    /the default of the setting "modes" must be of: a/,
  ],
  [
    'a setting named as every object’s own',
    { ...base, settings: { constructor: setting.text({ label: 'x' }) } },
    /the setting "constructor"/,
  ],
  [
    'an operation that takes longer than a Lambda lives',
    { ...base, operations: { send: { ...operation(), timeoutSeconds: 891 } } },
    /the operation "send", "timeoutSeconds" must be a number of seconds above 0, at most 890/,
  ],
  [
    'a timeout of no time',
    { ...base, operations: { send: { ...operation(), timeoutSeconds: 0 } } },
    /"timeoutSeconds"/,
  ],
  [
    'more memory than a Lambda has',
    { ...base, operations: { send: { ...operation(), memoryMb: 10_241 } } },
    /"memoryMb" must be a whole number of MB from 128 to 10240/,
  ],
  [
    'results longer than any',
    { ...base, maxResultChars: MAX_RESULT_SIZE + 1 },
    /"maxResultChars" must be/,
  ],
  ['results of no length', { ...base, maxResultChars: 999 }, /"maxResultChars" must be/],
  [
    'an option that nobody knows',
    { ...base, colour: 'red' } as Definition,
    /"colour" is no option; there are: name, /,
  ],
  [
    'an operation’s option that nobody knows',
    { ...base, operations: { send: { ...operation(), requiresApproval: true } } } as Definition,
    /the operation "send", "requiresApproval" is no option; .*requiresApprovalByDefault/,
  ],
  [
    'a setting’s option that nobody knows',
    {
      ...base,
      settings: { key: { ...setting.text({ label: 'Key' }), secret: true } },
    } as Definition,
    /the setting "key", "secret" is no option/,
  ],
  [
    'a setting of no known type',
    { ...base, settings: { key: { type: 'colour', label: 'Key' } } } as never,
    /"type" must be one of: text, textarea/,
  ],
  [
    'a description that says nothing',
    { ...base, description: ' ' },
    /"description" must be a text/,
  ],
  [
    'a category of its own',
    { ...base, category: 'fun' } as never,
    /"category" must be one of: general/,
  ],
  [
    'an effect of its own',
    { ...base, operations: { send: { ...operation(), effect: 'twice' } } } as never,
    /"effect" must be one of: read, idempotent, once/,
  ],
  [
    'a resource that nobody knows',
    { ...base, operations: { send: { ...operation(), touches: ['moon'] } } } as never,
    /"touches" must be a list of: agents/,
  ],
  [
    'an operation without code',
    { ...base, operations: { send: { ...operation(), execute: undefined } } } as never,
    /"execute" must be a function/,
  ],
  [
    'parameters that are no object',
    { ...base, operations: { send: { ...operation(), parameters: z.string() } } } as never,
    /"parameters" must be a z.object/,
  ],
  [
    'middleware that is no function',
    { ...base, middleware: ['x'] } as never,
    /"middleware" must be/,
  ],
  ...['Big', 'a--b', '-a', 'a-', '', 'a'.repeat(65)].map((skill): [string, Definition, RegExp] => [
    `the skill "${skill}"`,
    { ...base, recommendsSkills: [skill] },
    /"recommendsSkills" must be a list of names of skills/,
  ]),
])('%s is an error that names the tool and what to change', (_, definition, message) => {
  const define = () => defineTool(definition)
  expect(define).toThrow(expect.objectContaining({ code: 'INVALID_DEFINITION' }))
  expect(define).toThrow(message)
  expect(define).toThrow(`Tool "${definition.name}"`)
})

test('skills are named as agentskills.io has it', () => {
  const recommendsSkills = ['a', 'time-arithmetic', 'a1-b2', 'a'.repeat(64)]
  expect(defineTool({ ...base, recommendsSkills }).recommendsSkills).toBe(recommendsSkills)
})

test('each limit of an operation is allowed itself', () => {
  for (const limits of [
    { timeoutSeconds: 25, memoryMb: 10_240 },
    { timeoutSeconds: 0.1, memoryMb: 128 },
  ])
    expect(
      defineTool({ ...base, operations: { send: { ...operation(), ...limits } } }).operations.send,
    ).toMatchObject(limits)
  for (const maxResultChars of [1_000, MAX_RESULT_SIZE])
    expect(defineTool({ ...base, maxResultChars }).maxResultChars).toBe(maxResultChars)
})

test('the longest name that providers take is allowed', () => {
  expect(defineTool({ ...base, name: 'm'.repeat(64) }).name).toHaveLength(64)
})

test('operations may share a parameter’s name where its schema is the same', () => {
  const operations = {
    send: operation(z.object({ to: z.string().min(1).max(9).describe('Who gets it.') })),
    list: operation(z.object({ to: z.string().max(9).min(1).describe('Who got it.') })),
  }
  expect(Object.keys(defineTool({ ...base, operations }).operations)).toEqual(['send', 'list'])
})
