import type * as z from 'zod'
import { IdempotencyKey, PageQuery } from '../request.ts'
import { IfMatch } from '../version.ts'
import { AgentId } from '../wire.ts'
import type { Json, Schemas } from './schemas.ts'

/** The parameters that many routes share, by their names in `components/parameters`. */
export type SharedParameter =
  | 'limit'
  | 'cursor'
  | 'idempotency-key'
  | 'required-idempotency-key'
  | 'espalier-agent'
  | 'if-match'
  | 'required-if-match'

export type Parameters = {
  /** The shared ones that a route takes. */
  components: Json
  shared: (...names: SharedParameter[]) => Json[]
  ofPath: (params: Record<string, z.ZodType>) => Json[]
  ofQuery: (query: z.ZodObject) => Json[]
}

export const createParameters = (schemas: Schemas): Parameters => {
  const components: Json = {}
  const [limit = {}, cursor = {}] = queryParameters(PageQuery, schemas)
  const key = { name: 'Idempotency-Key', in: 'header', schema: schemas.of(IdempotencyKey, 'input') }
  const ifMatch = { name: 'If-Match', in: 'header', schema: schemas.of(IfMatch, 'input') }
  const known: Record<SharedParameter, Json> = {
    limit,
    cursor,
    'idempotency-key': {
      ...key,
      description: 'The same key again gives what the first request made, and does nothing more.',
    },
    'required-idempotency-key': {
      ...key,
      required: true,
      description: 'Needed, since a second run is a second effect: send the same one to try again.',
    },
    'espalier-agent': {
      name: 'Espalier-Agent',
      in: 'header',
      schema: schemas.of(AgentId, 'input'),
      description: 'The agent to act for. A user’s key needs it; an agent’s stands for its own.',
    },
    'if-match': {
      ...ifMatch,
      description: 'The ETag that the change is meant for: of any other version it is refused.',
    },
    'required-if-match': {
      ...ifMatch,
      required: true,
      description:
        'The ETag of what was read: a change of any other version is refused. `*` is for any.',
    },
  }
  return {
    components,
    shared: (...names) =>
      names.map(name => {
        components[name] = known[name]
        return { $ref: `#/components/parameters/${name}` }
      }),
    ofPath: params =>
      Object.entries(params).map(([name, schema]) => ({
        name,
        in: 'path',
        required: true,
        ...described(schemas.of(schema, 'input')),
      })),
    ofQuery: query => queryParameters(query, schemas),
  }
}

const queryParameters = (query: z.ZodObject, schemas: Schemas): Json[] =>
  Object.entries(query.shape as Record<string, z.ZodType>).map(([name, schema]) => ({
    name,
    in: 'query',
    required: !schema.safeParse(undefined).success,
    ...described(schemas.of(schema, 'input')),
  }))

/** A parameter tells its meaning itself, beside its schema. */
const described = ({ description, ...schema }: Json): Json => ({
  ...(description === undefined ? {} : { description }),
  schema,
})
