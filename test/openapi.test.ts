import { createConfig, lintFromString } from '@redocly/openapi-core'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { allEndpoints } from '../functions/admin/index.ts'
import { routeTable } from '../functions/routes.ts'
import { endpoint, reply } from '../lib/http/endpoint.ts'
import { openApiDocument } from '../lib/http/openapi/document.ts'
import { anyone } from '../lib/http/public-access.ts'
import { defineTool } from '../lib/tool/define.ts'
import { setting } from '../lib/tool/setting.ts'
import { createConformance, currentDocument, operationsOf, validators } from './openapi.ts'
import { ask } from './probe.ts'

const document = await currentDocument()
const operations = operationsOf(document)
const SERVER = { url: 'https://espalier.test' }

/** Every value of a document, with the keys that lead to it. */
const walk = function* (value: unknown, path: string[] = []): Generator<[string[], unknown]> {
  yield [path, value]
  if (typeof value === 'object' && value !== null)
    for (const [key, part] of Object.entries(value)) yield* walk(part, [...path, key])
}

const at = (pointer: string): unknown =>
  pointer
    .slice('#/'.length)
    .split('/')
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key],
      document,
    )

/**
 * Warnings that stand, each with its reason: redirections are the whole answer of a link, and who
 * asks for the reference names nothing that could be refused.
 */
const ARGUED = [
  'operation-2xx-response #/paths/~1api~1v1~1assets~1{id}/get/responses',
  'operation-2xx-response #/paths/~1api~1v1~1public~1media~1{id}/get/responses',
  'operation-2xx-response #/paths/~1api~1v1~1tool-calls~1{id}~1outputs~1{hash}/get/responses',
  'operation-2xx-response #/paths/~1sign-in/get/responses',
  'operation-2xx-response #/paths/~1sign-in~1callback/get/responses',
  'operation-4xx-response #/paths/~1api~1v1~1openapi.json/get/responses',
  'operation-4xx-response #/paths/~1docs/get/responses',
  'operation-4xx-response #/paths/~1docs/head/responses',
]

const lint = async (source: object) => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(source), config })
  return problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`).toSorted()
}

describe('the OpenAPI document', () => {
  it('passes a public linter, which knows OpenAPI 3.1', async () => {
    expect(await lint({ ...document, servers: [SERVER] })).toEqual(ARGUED)
    // And the linter would tell: these are faults of each kind that it looks for.
    const broken = { ...document, servers: [SERVER], paths: { '/a': { get: { responses: 1 } } } }
    expect(await lint(broken)).toContain('struct #/paths/~1a/get/responses')
  })

  it('has every route of the table, and nothing else', async () => {
    const { routes } = await routeTable()
    const names = (list: { method: string; path: string }[]) =>
      list.map(({ method, path }) => `${method} ${path}`).toSorted()
    expect(names(operations)).toEqual(names(routes))
  })

  it('has an id of its own for every operation', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('leads to something with every reference', () => {
    const references = [...walk(document)].filter(([path]) => path.at(-1) === '$ref')
    expect(references.length).toBeGreaterThan(100)
    for (const [, reference] of references) expect(at(String(reference))).toBeTypeOf('object')
  })

  it('has each shape once: no two of its schemas are the same object', () => {
    const shapes = Object.values(document.components.schemas)
      .filter(schema => (schema as { properties?: object }).properties)
      .map(schema => JSON.stringify(schema))
    expect(new Set(shapes).size).toBe(shapes.length)
  })

  it('has schemas that a validator of JSON Schema 2020-12 compiles', () => {
    const validator = validators(document)
    for (const name of Object.keys(document.components.schemas))
      expect(validator('components', 'schemas', name)).toBeTypeOf('function')
  })

  it('asks for a key wherever one is needed, and nowhere else', () => {
    const open = operations.filter(({ operation }) => operation.security?.length === 0)
    expect(open.map(({ operation }) => operation.operationId).toSorted()).toEqual([
      'acceptInvitation',
      'claimInstance',
      'endSignIn',
      'getOpenApi',
      'openPublicMedia',
      'openReference',
      'openReferenceFile',
      'openReferenceFileHead',
      'openReferenceHead',
      'signIn',
    ])
    expect(document.security).toEqual([{ key: [] }, { session: [] }])
    expect(document.components.securitySchemes).toMatchObject({
      key: { type: 'http', scheme: 'bearer' },
      session: { type: 'apiKey', in: 'cookie', name: '__Host-espalier-session' },
    })
    for (const { operation } of operations)
      expect('401' in operation.responses).toBe(operation.security === undefined)
  })

  it('says of each operation with a caller that there may be too many, and when to try again', () => {
    for (const { operation, method } of operations) {
      if (!('401' in operation.responses)) continue
      const name = operation.responses['429']?.$ref?.split('/').at(-1) ?? ''
      expect(document.components.responses[name]).toHaveProperty('headers.retry-after')
      expect('403' in operation.responses || method === 'GET').toBe(true)
    }
  })

  it('describes each operation in one line, and lists what may go wrong', () => {
    for (const { operation } of operations) {
      expect(operation.summary).toMatch(/^[A-Z][^\n]{5,100}[^.]$/)
      expect(operation.responses).toHaveProperty('500')
    }
  })
})

const tool = defineTool({
  name: 'post_office',
  description: 'Sends letters.',
  category: 'communication',
  settings: {
    sender: setting.text({ label: 'Sender', required: true }),
    pin: setting.password({ label: 'PIN', default: 'a default that nobody sees' }),
  },
  operations: {
    send: {
      description: 'Send a letter.\nTo one person.',
      parameters: z.object({ to: z.string().describe('Whom.'), copies: z.int().max(9).default(1) }),
      requiresApprovalByDefault: true,
      describe: () => 'Send',
      execute: () => 'sent',
    },
    count: { ...ask, description: 'Count.', effect: 'read', enabledByDefault: false },
  },
})

describe('a tool’s operation', () => {
  type Run = ReturnType<typeof operationsOf>[number]['operation'] & Record<string, unknown>
  let send: Run
  let count: Run
  const own = openApiDocument({ endpoints: {}, tools: [tool] })
  beforeAll(() => {
    const [first, second] = operationsOf(own)
    send = first?.operation as Run
    count = second?.operation as Run
  })

  it('has its own parameters, in their order', () => {
    expect(send.requestBody?.content['application/json'].schema).toEqual({
      type: 'object',
      properties: {
        to: { type: 'string', description: 'Whom.' },
        copies: expect.objectContaining({ type: 'integer', maximum: 9, default: 1 }),
      },
      required: ['to'],
      additionalProperties: false,
    })
  })

  it('needs an Idempotency-Key where a second run is a second effect, and takes one elsewhere', () => {
    const keys = [send, count].map(({ parameters = [] }) =>
      parameters.map(({ $ref }) => String($ref).split('/').at(-1)),
    )
    expect(keys).toEqual([
      ['espalier-agent', 'required-idempotency-key'],
      ['espalier-agent', 'idempotency-key'],
    ])
    expect(own.components.parameters).toMatchObject({
      'required-idempotency-key': { name: 'Idempotency-Key', in: 'header', required: true },
      'espalier-agent': { name: 'Espalier-Agent', in: 'header' },
    })
  })

  it('says what a repeat does, who is asked, and what configures it, but no secret', () => {
    expect(send).toMatchObject({
      operationId: 'post_office.send',
      tags: ['tools.post_office'],
      summary: 'Post office: send',
      'x-espalier-effect': 'once',
      'x-espalier-requires-approval': true,
      'x-espalier-category': 'communication',
    })
    expect(count).toMatchObject({ 'x-espalier-effect': 'read', 'x-espalier-enabled': false })
    const { description } = send as { description?: string }
    for (const word of [
      'Send a letter.',
      'second effect',
      'a person is asked',
      '`sender`',
      '`pin`',
    ])
      expect(description).toContain(word)
    expect(JSON.stringify(own)).not.toContain('nobody sees')
  })

  it('has a parameter that contains itself among the schemas, under its own name', async () => {
    type Tree = { name: string; parts?: Tree[] | undefined }
    const tree: z.ZodType<Tree> = z.lazy(() =>
      z.strictObject({ name: z.string(), parts: z.array(tree).optional() }),
    )
    const grow = { ...ask, description: 'Grow.', parameters: z.object({ tree }) }
    const forest = defineTool({ name: 'forest', description: 'Grows.', operations: { grow } })
    const grown = openApiDocument({ endpoints: {}, tools: [forest] })
    expect(Object.keys(grown.components.schemas).join()).toContain('forest.grow.')
    const [operation] = operationsOf(grown)
    const place = ['post', 'requestBody', 'content', 'application/json', 'schema']
    const validate = validators(grown)('paths', operation?.path ?? '', ...place)
    const branch = { name: 'branch', parts: [{ name: 'leaf' }] }
    expect(validate({ tree: branch })).toBe(true)
    expect(validate({ tree: { ...branch, parts: [{ name: 1 }] } })).toBe(false)
  })

  it('answers with what came of it, or with a call that goes on', () => {
    expect(Object.keys(send.responses)).toEqual(expect.arrayContaining(['200', '202', '422']))
  })

  it('stands under its tool, and that under its category', () => {
    expect(own['x-tagGroups'].at(-1)).toEqual({
      name: 'Tools: communication',
      tags: ['tools.post_office'],
    })
    expect(own.tags.at(-1)).toEqual({
      name: 'tools.post_office',
      description: 'Post office: Sends letters.',
    })
  })
})

it('two schemas of one name and different shapes are a definition’s error', () => {
  const named = (schema: z.ZodType) =>
    endpoint(
      {
        method: 'GET',
        path: '/a',
        tag: 'Tools',
        summary: 'Try it',
        access: anyone,
        responses: { 200: z.array(schema.meta({ id: 'TwiceNamed' })) },
      },
      () => reply(200, []),
    )
  const make = (...schemas: z.ZodType[]) =>
    openApiDocument({
      endpoints: Object.fromEntries(schemas.map((schema, index) => [`a${index}`, named(schema)])),
      tools: [],
    })
  expect(() => make(z.string(), z.string())).not.toThrow()
  expect(() => make(z.string(), z.number())).toThrow(
    expect.objectContaining({ code: 'INVALID_DEFINITION' }),
  )
})

describe('an answer', () => {
  const conforms = createConformance(document)
  const answer = (status: number, body: unknown, type = 'application/json') => ({
    status,
    headers: new Headers({ 'content-type': type }),
    text: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const key = 'key_01JZZZZZZZZZZZZZZZZZZZZZZZ'
  const revoked = { id: key, revoked: true }
  const path = `/api/v1/keys/${key}`

  it('that is what the document says passes', () => {
    conforms('DELETE', path, answer(200, { data: revoked }))
    conforms('DELETE', path, answer(404, { error: { code: 'NOT_FOUND', message: 'No.' } }))
    conforms('GET', '/api/v1/nowhere', answer(404, { error: { code: 'NOT_FOUND', message: '' } }))
  })

  it.each([
    ['a field that is not declared', answer(200, { data: { ...revoked, by: 'me' } })],
    ['a field beside the data', answer(200, { data: revoked, next_cursor: null })],
    ['a field that is missing', answer(200, { data: { id: key } })],
    ['an id of another kind', answer(200, { data: { ...revoked, id: `agent${key.slice(3)}` } })],
    ['a status that is not declared', answer(201, { data: revoked })],
    ['a code that is not declared', answer(404, { error: { code: 'FORBIDDEN', message: '' } })],
    ['a code that does not exist', answer(404, { error: { code: 'GONE', message: '' } })],
    ['no envelope', answer(404, { message: 'Not Found' })],
    ['another type', answer(200, 'revoked', 'text/plain')],
  ])('with %s does not', (_, other) => {
    expect(() => conforms('DELETE', path, other)).toThrow('against the document')
  })

  it('of a route that is not there does not', async () => {
    const { getTool, ...others } = await allEndpoints()
    expect(getTool).toBeDefined()
    const less = createConformance(openApiDocument({ endpoints: others, tools: [] }))
    expect(() => less('GET', '/api/v1/tools/time', answer(200, { data: {} }))).toThrow()
  })
})
