import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../../lib/tool/define.ts'

const define = (schema: z.ZodType) =>
  defineTool({
    name: 'mail',
    description: 'Sends mail.',
    operations: {
      send: {
        description: 'Sends.',
        parameters: z.object({ to: schema }),
        describe: () => 'Send',
        execute: () => 'sent',
      },
    },
  })

type Tree = { name: string; children?: Tree[] | undefined }
const Tree: z.ZodType<Tree> = z.object({
  name: z.string(),
  children: z.lazy(() => Tree.array()).optional(),
})
const Node = z.object({
  name: z.string(),
  get children() {
    return z.array(Node)
  },
})

test.each<[string, z.ZodType, unknown]>([
  [
    'texts with checks',
    z
      .string()
      .min(1)
      .max(9)
      .regex(/x/)
      .refine(text => text !== 'xx'),
    'x',
  ],
  ['formats', z.union([z.url({ normalize: true }), z.email(), z.uuid()]), 'https://EXAMPLE.com'],
  ['defaults', z.object({ a: z.int().default(3), b: z.enum(['x']).optional() }), {}],
  ['a default of a whole object', z.object({ a: z.int() }).default({ a: 1 }), undefined],
  ['a prefault', z.object({ a: z.int().default(1) }).prefault({}), undefined],
  [
    'lists, tuples and records',
    z.tuple([z.array(z.null()), z.record(z.string(), z.int())]),
    [[null], { a: 1 }],
  ],
  [
    'literals and templates',
    z.union([z.literal(['a', 1, null]), z.templateLiteral(['x', z.int()])]),
    'x1',
  ],
  ['JSON itself', z.json(), { a: [1, 'b', null, true] }],
  ['a schema within itself', Tree, { name: 'a', children: [{ name: 'b' }] }],
  ['a schema within itself, by a getter', Node, { name: 'a', children: [] }],
  [
    'read-only and anything',
    z.object({ a: z.array(z.unknown()).readonly(), b: z.any() }),
    { a: [1], b: 2 },
  ],
])('a parameter may have %s: a second parse leaves it as it is', (_, schema, value) => {
  const { parameters } = define(schema).operations.send ?? {}
  const first = parameters?.parse({ to: value })
  expect(parameters?.parse(JSON.parse(JSON.stringify(first)))).toEqual(first)
})

const exclaim = (text: string) => `${text}!`

test.each<[string, z.ZodType]>([
  ['a transform', z.string().transform(exclaim)],
  ['a transform deep within', z.object({ a: z.array(z.string().transform(exclaim)).optional() })],
  ['a transform of a key', z.record(z.string().transform(exclaim), z.int())],
  [
    'a transform in one of many',
    z.union([z.int(), z.tuple([z.int()], z.string().transform(exclaim))]),
  ],
  ['a transform behind a lazy one', z.lazy(() => z.string().transform(exclaim))],
  ['a transform of what is left over', z.object({}).catchall(z.string().transform(exclaim))],
  ['coercion', z.coerce.number()],
  ['coercion deep within', z.array(z.object({ a: z.coerce.boolean() }))],
  ['a pipe', z.string().pipe(z.email())],
  ['a preprocess', z.preprocess(String, z.string())],
  ['a codec', z.codec(z.string(), z.int(), { decode: Number, encode: String })],
  ['a word for a truth', z.stringbool()],
  ['trim', z.string().trim()],
  ['toLowerCase', z.email().toLowerCase()],
  ['an overwrite', z.int().overwrite(number => number + 1)],
  ['an overwritten list', z.array(z.int()).check(z.overwrite(list => [...list, 1]))],
])('%s is refused: what runs would not be what was approved', (_, schema) => {
  expect(() => define(schema)).toThrow(
    /Tool "mail": the parameter "to" of the operation "send" changes what it is given .* in "execute"/,
  )
})

test('an intersection is refused: spread both shapes into one object', () => {
  const both = z.intersection(z.object({ a: z.int() }), z.object({ b: z.int() }))
  expect(() => define(z.array(both))).toThrow(/"to".* is an intersection.* spread both shapes/)
})

test.each<[string, z.ZodType]>([
  ['date', z.date()],
  ['bigint', z.bigint().optional()],
  ['map', z.map(z.string(), z.int())],
  ['custom', z.instanceof(URL)],
  ['undefined', z.undefined()],
  ['literal', z.literal(1n)],
  ['catch', z.string().catch('x')],
])('%s is refused: models have no schema for it', (kind, schema) => {
  expect(() => define(schema)).toThrow(new RegExp(`no form for \\(${kind}`))
})

test.each<[string, z.ZodType]>([
  ['never', z.never()],
  ['never within', z.array(z.object({ a: z.never().optional() }))],
  ['an enum of nothing', z.enum([])],
  ['a union of nothing', z.union([])],
])('%s is refused: nothing is valid', (_, schema) => {
  expect(() => define(schema)).toThrow(/"to".* no value is valid.* Leave it out/)
})

test.each<[string, z.ZodType]>([
  ['refuses', z.string().min(3).default('x')],
  ['completes', z.object({ a: z.int().default(1) }).default({} as { a: number })],
])('a default that its schema %s is refused', (_, schema) => {
  expect(() => define(schema)).toThrow(/has a default that its own schema refuses or completes/)
})

test.each<[string, z.ZodType]>([
  ['default', z.string().default(() => crypto.randomUUID())],
  ['prefault', z.string().prefault(() => crypto.randomUUID())],
])('a %s that is another one each time is refused', (_, schema) => {
  expect(() => define(schema)).toThrow(/"to".* is another one each time.* in "execute"/)
})

test.each(['i', 'm', 's', 'y'])(
  'a pattern with the flag %s is refused: what models are told would be another one',
  flag => {
    const pattern = new RegExp('^a.$', flag)
    expect(() => define(z.string().regex(pattern))).toThrow(`the flag "${flag}"`)
    expect(() => define(z.array(z.email({ pattern })))).toThrow(`the flag "${flag}"`)
  },
)

test('flags that change nothing of what a pattern matches are allowed', () => {
  expect(() => define(z.string().regex(/^\p{L}$/gu))).not.toThrow()
})

const defineWith = (parameters: z.ZodObject) =>
  defineTool({
    name: 'mail',
    description: 'Sends mail.',
    operations: {
      send: { description: 'Sends.', parameters, describe: () => 'Send', execute: () => 'sent' },
    },
  })

test.each<[string, z.ZodObject]>([
  ['loose', z.looseObject({ to: z.string() })],
  ['with a catchall', z.object({ to: z.string() }).catchall(z.string().trim())],
])(
  'parameters that are %s are refused: their schema says that they are closed',
  (_, parameters) => {
    expect(() => defineWith(parameters)).toThrow(
      /parameters of .*"send" must all be declared.*z\.record/,
    )
  },
)

test('so are those that are changed as a whole', () => {
  const parameters = z.object({ to: z.string() }).check(z.overwrite(({ to }) => ({ to: `${to}!` })))
  expect(() => defineWith(parameters)).toThrow(/parameters of .*"send" must not be changed/)
})
