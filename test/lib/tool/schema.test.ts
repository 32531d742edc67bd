import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool, type Operation, type Tool } from '../../../lib/tool/define.ts'
import { operationSchema, splitArguments, toolSchema } from '../../../lib/tool/schema.ts'

const operation = (name: string, parameters: z.ZodObject) => ({
  description: `Does ${name}.`,
  parameters,
  describe: () => name,
  execute: () => name,
})
const timezone = z.string().optional().describe('A time zone.')
const tool = defineTool({
  name: 'time',
  description: 'Tells the time.',
  operations: {
    now: operation('now', z.object({ timezone })),
    format: operation('format', z.object({ timezone, epoch: z.int().describe('Unix time.') })),
    add: operation('add', z.object({ epoch: z.int().optional(), days: z.int().default(1) })),
  },
})
const single = defineTool({
  name: 'calculator',
  description: 'Calculates.',
  operations: { calculate: operation('calculate', z.object({ expression: z.string() })) },
})
const only = (of: Tool, ...names: string[]): Operation[] =>
  Object.values(of.operations).filter(({ name }) => names.includes(name))

test('the discriminator comes first, then parameters in order of first appearance', () => {
  const { properties } = toolSchema(tool, Object.values(tool.operations))
  expect(Object.keys(properties)).toEqual(['action', 'timezone', 'epoch', 'days'])
  expect(properties.action).toEqual({
    type: 'string',
    enum: ['now', 'format', 'add'],
    description: 'Which operation to run.\nnow: Does now.\nformat: Does format.\nadd: Does add.',
  })
})

test('what only some operations take or require is said in its description', () => {
  const { properties, required } = toolSchema(tool, only(tool, 'now', 'format'))
  expect(properties.epoch?.description).toBe('Unix time. Required for format.')
  expect(required).toEqual(['action'])
  const all = toolSchema(tool, Object.values(tool.operations)).properties
  expect(all.timezone?.description).toBe('A time zone. For now, format.')
  expect(all.days?.description).toBe('For add.')
})

test('what one operation requires and another allows is told apart', () => {
  const required = z.object({ to: z.string() })
  const mixed = defineTool({
    name: 'mixed',
    description: 'x',
    operations: {
      a: operation('a', required),
      b: operation('b', required),
      c: operation('c', z.object({ other: z.string().optional() })),
    },
  })
  const { properties } = toolSchema(mixed, Object.values(mixed.operations))
  expect(properties.to?.description).toBe('Required for a, b.')
  const { properties: some } = toolSchema(tool, only(tool, 'format', 'add'))
  expect(some.epoch?.description).toBe('Unix time. Required for format. Optional for add.')
})

test('what every enabled operation takes alike has no note', () => {
  const { properties } = toolSchema(tool, only(tool, 'now', 'format'))
  expect(properties.timezone?.description).toBe('A time zone.')
})

test('with a single operation enabled, the discriminator is there and may be omitted', () => {
  const schema = toolSchema(tool, only(tool, 'format'))
  expect(schema.properties.action).toMatchObject({ enum: ['format'] })
  expect(schema.required).toEqual(['epoch'])
  expect(schema.properties.epoch?.description).toBe('Unix time.')
})

test('a tool of one operation has no discriminator', () => {
  const schema = toolSchema(single, Object.values(single.operations))
  expect(schema).toEqual({
    type: 'object',
    properties: { expression: { type: 'string' } },
    required: ['expression'],
    additionalProperties: false,
  })
})

test('what every enabled operation requires is required', () => {
  const [format] = only(tool, 'format')
  expect(format && operationSchema(format).required).toEqual(['epoch'])
  const { required } = toolSchema(single, Object.values(single.operations))
  expect(required).toEqual(['expression'])
})

test('the root has no combination of schemas, which some providers refuse', () => {
  const schema = toolSchema(tool, Object.values(tool.operations))
  expect(Object.keys(schema).sort()).toEqual([
    'additionalProperties',
    'properties',
    'required',
    'type',
  ])
})

test('another discriminator takes the name that the tool chose', () => {
  const chosen = defineTool({
    name: 'files',
    description: 'x',
    discriminator: 'verb',
    operations: {
      read: operation('read', z.object({ action: z.string() })),
      list: operation('list', z.object({})),
    },
  })
  const all = Object.values(chosen.operations)
  expect(Object.keys(toolSchema(chosen, all).properties)).toEqual(['verb', 'action'])
  expect(splitArguments(chosen, all, { verb: 'read', action: 'x' })).toEqual({
    operation: 'read',
    rest: { action: 'x' },
  })
})

test('arguments are taken apart into the operation that they name and the rest', () => {
  const all = Object.values(tool.operations)
  expect(splitArguments(tool, all, { action: 'add', days: 2 })).toEqual({
    operation: 'add',
    rest: { days: 2 },
  })
})

test('a missing operation is the only enabled one, or unknown', () => {
  expect(splitArguments(tool, only(tool, 'now'), {}).operation).toBe('now')
  expect(splitArguments(tool, Object.values(tool.operations), {}).operation).toBeUndefined()
})

test('an operation that is named counts, though another one is the only enabled', () => {
  expect(splitArguments(tool, only(tool, 'now'), { action: 'add' }).operation).toBe('add')
})

test.each([
  ['an object', { toString: 1, valueOf: 1 }],
  ['a list', ['add']],
  ['a number', 1],
  ['null', null],
])('%s names no operation, not even where one alone is enabled', (_, action) => {
  const { operation, rest } = splitArguments(tool, only(tool, 'add'), { action, days: 2 })
  expect(operation).toBeUndefined()
  expect(rest).toEqual({ days: 2 })
})

test('a tool of one operation takes its arguments as they are', () => {
  const values = { expression: '1', action: 'x' }
  expect(splitArguments(single, Object.values(single.operations), values)).toEqual({
    operation: 'calculate',
    rest: values,
  })
})

type Node = { name: string; children?: Node[] | undefined }
const Node: z.ZodType<Node> = z.object({
  name: z.string(),
  get children() {
    return z.array(Node).optional()
  },
})
const Leaf: z.ZodType = z.object({
  get leaf() {
    return Leaf.optional()
  },
})

test('a schema that contains itself is defined once, beside the properties', () => {
  const trees = defineTool({
    name: 'trees',
    description: 'x',
    operations: {
      plant: operation('plant', z.object({ tree: Node })),
      fell: operation('fell', z.object({ tree: Node, why: z.string() })),
      press: operation('press', z.object({ leaf: Leaf })),
    },
  })
  const schema = toolSchema(trees, Object.values(trees.operations))
  expect(Object.keys(schema.$defs ?? {})).toHaveLength(2)
  const validate = new Ajv2020().compile(schema)
  expect(validate({ action: 'plant', tree: { name: 'a', children: [{ name: 'b' }] } })).toBe(true)
  expect(validate({ action: 'plant', tree: { name: 'a', children: [{ name: 1 }] } })).toBe(false)
  expect(validate({ action: 'press', leaf: { leaf: { leaf: {} } } })).toBe(true)
  expect(validate({ action: 'press', leaf: { leaf: { name: 'a' } } })).toBe(false)
  expect(validate({ action: 'plant', tree: { name: 'a', colour: 'b' } })).toBe(false)
})

test('where two operations describe one parameter differently, both are told', () => {
  const limit = z.int().min(1)
  const lists = defineTool({
    name: 'lists',
    description: 'x',
    operations: {
      short: operation('short', z.object({ limit: limit.default(5).describe('Rows.') })),
      long: operation('long', z.object({ limit: limit.default(50).describe('Lines.') })),
    },
  })
  expect(toolSchema(lists, Object.values(lists.operations)).properties.limit).toEqual({
    type: 'integer',
    minimum: 1,
    description: 'For short: Rows. For long: Lines. Default: 5 for short, 50 for long.',
  })
  expect(toolSchema(lists, only(lists, 'long')).properties.limit).toMatchObject({
    default: 50,
    description: 'Lines.',
  })
})
