import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { generate } from '../../../../lib/llm/generate.ts'
import { adapt, type JsonSchema } from '../../../../lib/tool/dialect/adapt.ts'
import { open, request, serve, streamed } from '../../llm/server.ts'
import { WIRE_NAMES, type WireName } from '../../llm/wires.ts'

const SCHEMAS: Record<string, JsonSchema> = {
  'everything at once': {
    type: 'object',
    properties: {
      action: { type: 'string', enum: ['go', 'stay'], description: 'What to do.' },
      count: { type: 'integer', exclusiveMinimum: 0, default: 3 },
      code: { type: 'string', pattern: '^(?!x)[a-z]+$', minLength: 2 },
      maybe: { type: ['string', 'null'] },
      tree: { $ref: '#/$defs/Tree' },
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
      record: {
        type: 'object',
        propertyNames: { maxLength: 9 },
        additionalProperties: { const: 'x' },
      },
      'filter[name]': { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    },
    required: ['action'],
    $defs: {
      Tree: {
        type: 'object',
        properties: { label: { type: 'string' }, next: { allOf: [{ $ref: '#/$defs/Tree' }] } },
      },
    },
  },
  'a closed object': {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['C', 'F'] } },
    required: ['city'],
    additionalProperties: false,
  },
  alternatives: {
    oneOf: [
      {
        type: 'object',
        properties: { kind: { const: 'a' }, x: { type: 'string' } },
        required: ['kind'],
      },
      {
        type: 'object',
        properties: { kind: { const: 'b' }, y: { type: 'integer' } },
        required: ['kind'],
      },
    ],
  },
  'no arguments': { type: 'object' },
}

/** Where each provider has a tool's schema in its request. */
const sentSchema: Record<WireName, (body: Record<string, unknown>) => unknown> = {
  openai: body => (body.tools as { parameters: unknown }[])[0]?.parameters,
  anthropic: body => (body.tools as { input_schema: unknown }[])[0]?.input_schema,
  google: body =>
    (body.tools as { functionDeclarations: { parametersJsonSchema: unknown }[] }[])[0]
      ?.functionDeclarations[0]?.parametersJsonSchema,
  xai: body => (body.tools as { parameters: unknown }[])[0]?.parameters,
  'openai-compatible': body =>
    (body.tools as { function: { parameters: unknown } }[])[0]?.function.parameters,
}

describe.each(WIRE_NAMES)('the driver of %s', wire => {
  test.each(Object.entries(SCHEMAS))('sends what was adapted as it is: %s', async (_, schema) => {
    const { schema: inputSchema, strict } = adapt(wire, schema)
    const { fetch, received } = serve(streamed(wire, { text: 'Yes.', end: 'done' }))
    const tool = { name: 'act', description: 'Acts.', inputSchema }
    const { warnings } = await generate(
      await open(wire, fetch),
      request({ tools: [{ ...tool, ...(strict !== undefined && { strict }) }] }),
    )
    const { body = {} } = received[0] ?? {}
    expect(JSON.stringify(sentSchema[wire](body))).toBe(JSON.stringify(inputSchema))
    expect(warnings).toEqual([])
    if (wire === 'openai') expect(body.tools).toMatchObject([{ strict: strict === true }])
  })
})

/** The schemas of tools in a recorded request, in the words of whichever provider it went to. */
const recordedSchemas = (part: unknown): JsonSchema[] => {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([name, inner]) =>
    ['parameters', 'parameters_json_schema', 'input_schema'].includes(name)
      ? [inner as JsonSchema]
      : recordedSchemas(inner),
  )
}

const RECORDED = [
  ['openai', 'openai_responses'],
  ['openai-compatible', 'openai'],
  ['anthropic', 'anthropic'],
  ['google', 'google'],
] as const

test.each(RECORDED)('schemas that %s was seen to take stay as they are', async (wire, name) => {
  const file = new URL(
    `../../../fixtures/provider-recordings/required-${name}.json`,
    import.meta.url,
  )
  const schemas = recordedSchemas(JSON.parse(await readFile(file, 'utf8')))
  expect(schemas.length).toBeGreaterThan(0)
  for (const schema of schemas) {
    const adapted = adapt(wire, schema)
    expect(adapted.schema).toEqual(schema)
    expect(adapted.notes).toEqual([])
    if (wire === 'openai') expect(adapted.strict).toBe(true)
  }
})
