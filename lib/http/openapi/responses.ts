import * as z from 'zod'
import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts'
import type { Declaration, Raw } from '../endpoint.ts'
import type { Json, Schemas } from './schemas.ts'

const ErrorView = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
      message: z.string().describe('What was wrong, and what to do.'),
      details: z.unknown().optional().describe('Such as each field that was wrong.'),
    }),
  })
  .meta({ id: 'Error', description: 'What every refusal answers.' })

const STATUS_WORDS: Record<string, string> = {
  200: 'It is done, or was before.',
  201: 'It was made.',
  202: 'The call has not ended: a person is asked, or it still runs.',
}

/** What answers with data look like, by status. */
export const dataResponse = (
  { status, schema, isPaged = false }: { status: string; schema: z.ZodType; isPaged?: boolean },
  schemas: Schemas,
): Json => ({
  description: STATUS_WORDS[status] ?? `Status ${status}.`,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          data: schemas.of(schema, 'output'),
          ...(isPaged
            ? { next_cursor: { type: ['string', 'null'], description: 'Null at the end.' } }
            : {}),
        },
        required: ['data', ...(isPaged ? ['next_cursor'] : [])],
      },
    },
  },
})

/** The answers of a declaration that are no refusals. */
export const successes = ({ responses, isPaged }: Declaration, schemas: Schemas): Json =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      '_zod' in response
        ? dataResponse({ status, schema: response, isPaged: isPaged ?? false }, schemas)
        : rawResponse(response),
    ]),
  )

const rawResponse = ({ description, types = [], headers }: Raw): Json => ({
  description,
  ...(headers
    ? {
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, meaning]) => [
            name,
            { description: meaning, schema: { type: 'string' } },
          ]),
        ),
      }
    : {}),
  ...(types.length > 0
    ? { content: Object.fromEntries(types.map(type => [type, { schema: {} }])) }
    : {}),
})

export type Refusals = {
  /** For `components/responses`: one for each set of codes that share a status. */
  components: Json
  /** The refusals with these codes, by status. */
  of: (codes: Iterable<ErrorCode>) => Json
}

const SAY_WHEN: ErrorCode[] = ['TOO_MANY_REQUESTS', 'VERSION_TOO_NEW']
const RETRY_AFTER = {
  'retry-after': { description: 'In how many seconds to try again.', schema: { type: 'string' } },
}

export const createRefusals = (schemas: Schemas): Refusals => {
  const components: Json = {}
  const schema = schemas.of(ErrorView, 'output')
  return {
    components,
    of: codes => {
      const byStatus = Object.groupBy([...new Set(codes)].toSorted(), code => ERROR_STATUS[code])
      return Object.fromEntries(
        Object.entries(byStatus).map(([status, alike = []]) => {
          const name = alike.map(pascalCase).join('Or')
          components[name] ??= {
            description: alike.map(code => `\`${code}\``).join(' or '),
            ...(alike.some(code => SAY_WHEN.includes(code)) ? { headers: RETRY_AFTER } : {}),
            content: { 'application/json': { schema, example: exampleOf(alike[0]) } },
            'x-error-codes': alike,
          }
          return [status, { $ref: `#/components/responses/${name}` }]
        }),
      )
    },
  }
}

const exampleOf = (code: ErrorCode | undefined) => ({
  error: { code, message: 'What was wrong, and what to do.' },
})

const pascalCase = (code: string): string =>
  code
    .split('_')
    .map(word => word.charAt(0) + word.slice(1).toLowerCase())
    .join('')
