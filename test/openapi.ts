import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { allEndpoints } from '../functions/admin/index.ts'
import { tools } from '../functions/tools/index.ts'
import { type OpenApiDocument, openApiDocument } from '../lib/http/openapi/document.ts'
import type { Json } from '../lib/http/openapi/schemas.ts'
import { matcherOf } from '../lib/local/api/route.ts'
import { allTools } from '../lib/tool/registry.ts'

/** The document of the tools that there are now, a test's own ones among them. */
export const currentDocument = async (): Promise<OpenApiDocument> =>
  openApiDocument({ endpoints: await allEndpoints(), tools: await allTools(tools) })

/** Every operation of a document, with its route. */
export const operationsOf = ({ paths }: OpenApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as Operation,
    })),
  )

export type Operation = {
  operationId: string
  summary: string
  security?: unknown[]
  parameters?: Json[]
  requestBody?: { content: { 'application/json': { schema: Json } } }
  responses: Record<string, Response>
}
type Response = {
  $ref?: string
  content?: Record<string, { schema: Json }>
  'x-error-codes'?: string[]
}

/** A validator of what stands at a place of the document. */
export const validators = (document: OpenApiDocument) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ ...document, $id: 'document' })
  return (...place: string[]): ValidateFunction => {
    const pointer = place.map(part => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const $ref = `document#/${encodeURI(pointer)}`
    return ajv.getSchema($ref) ?? ajv.compile({ $ref })
  }
}

/** The same document with no room for fields that it doesn't declare. */
const closed = <T>(value: T): T => {
  if (Array.isArray(value)) return value.map(closed) as T
  if (typeof value !== 'object' || value === null) return value
  const inside = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closed(part)]))
  const isOpen =
    inside.type === 'object' && inside.properties && !('additionalProperties' in inside)
  return (isOpen ? { ...inside, additionalProperties: false } : inside) as T
}

type Answer = { status: number; headers: Headers; text: string }

/** What an error shows of an answer. */
const MAX_SHOWN_CHARS = 1_000
/** What the gateway says of any path, with no function asked. */
const GATEWAY_CODES = ['MISDIRECTED_REQUEST', 'METHOD_NOT_ALLOWED', 'NOT_FOUND']

/** Throws where an answer is not what the document says of its route. */
export const createConformance = (document: OpenApiDocument) => {
  const validator = validators(closed(document))
  const operations = operationsOf(document)
  const match = matcherOf(
    operations.map(({ method, path }) => ({ method, path, functionName: '' })),
  )

  /** What is wrong with an answer, or undefined. */
  const problemWith = (method: string, where: string, answer: Answer): unknown => {
    const found = match(method, where.split('?')[0] ?? '')
    if (found.kind !== 'route') return gatewayProblem(where, answer)
    const { path } = found.route
    const status = String(answer.status)
    const operation = operations.find(each => each.method === method && each.path === path)
    const declared = operation?.operation.responses[status]
    if (!declared) return 'The status is not declared.'
    const name = declared.$ref?.split('/').at(-1)
    const response = name ? (document.components.responses[name] as Response) : declared
    const types = Object.keys(response.content ?? {})
    if (types.length === 0) return answer.text === '' ? undefined : 'No body is declared.'
    const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
    if (!types.includes(type)) return `The body's type ${type} is not declared.`
    if (type !== 'application/json') return undefined
    const validate = name
      ? validator('components', 'responses', name, 'content', type, 'schema')
      : validator(
          'paths',
          path,
          method.toLowerCase(),
          'responses',
          status,
          'content',
          type,
          'schema',
        )
    const body: { error?: { code: string } } = JSON.parse(answer.text)
    const isValid: boolean = validate(body)
    if (!isValid) return validate.errors
    const codes = response['x-error-codes']
    return codes && !codes.includes(body.error?.code ?? '')
      ? `The code is none of ${codes}.`
      : undefined
  }

  return (method: string, where: string, answer: Answer): void => {
    const problem = problemWith(method, where, answer)
    if (problem === undefined) return
    throw new Error(
      `${method} ${where} answers ${answer.status}, against the document: ${JSON.stringify(problem)}\n${answer.text.slice(0, MAX_SHOWN_CHARS)}`,
    )
  }
}

/** Where no route is asked: pages of the local runner are not of the API. */
const gatewayProblem = (where: string, { text }: Answer): string | undefined => {
  if (!where.startsWith('/api/')) return undefined
  const code: unknown = JSON.parse(text).error?.code
  return GATEWAY_CODES.includes(String(code)) ? undefined : 'There is no such route.'
}
