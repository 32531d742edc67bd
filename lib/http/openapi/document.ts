import type { Tool } from '../../tool/define.ts'
import type { Endpoint, Endpoints } from '../endpoint.ts'
import { SESSION_COOKIE } from '../session.ts'
import { TAGS } from '../tags.ts'
import { endpointOperation, type Parts, toolOperation, toolTag } from './operations.ts'
import { createParameters } from './parameters.ts'
import { createRefusals } from './responses.ts'
import { createSchemas, type Json } from './schemas.ts'

/** An OpenAPI 3.1 document, without the address of whoever serves it. */
export type OpenApiDocument = {
  openapi: string
  info: Json
  security: Json[]
  tags: Json[]
  paths: Record<string, Json>
  components: {
    securitySchemes: Json
    schemas: Json
    parameters: Json
    responses: Json
  }
  'x-tagGroups': { name: string; tags: string[] }[]
}

/** The API's version: what is in its paths. */
const VERSION = '1'

const DESCRIPTION = `Agents, their tools and tasks, and what people decide about them.

Every answer is \`{"data": …}\` or an error in its envelope. What is not yours answers 404, like what
does not exist. Readers of answers pass over fields that they don't know: there may be more one day.`

const SESSION_WORDS =
  'The session of someone who has signed in, which acts as a key of theirs with the scope `decide`. A write needs the header `X-CSRF-Token`, and to come from a page of ours. Where a request has a key as well, only the key counts.'

/**
 * The document of all routes: those that are declared, and one for each operation of each tool.
 * Throws INVALID_DEFINITION where two things of different shapes have one name.
 */
export const openApiDocument = ({
  endpoints,
  tools,
}: {
  endpoints: Endpoints
  tools: Tool[]
}): OpenApiDocument => {
  const schemas = createSchemas()
  const parameters = createParameters(schemas)
  const refusals = createRefusals(schemas)
  const parts = { schemas, parameters, refusals }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Espalier',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    security: [{ key: [] }, { session: [] }],
    tags: [
      ...Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      ...tools.map(tool => ({
        name: toolTag(tool),
        description: `${tool.displayName}: ${tool.description}`,
      })),
    ],
    paths: pathsOf(endpoints, tools, parts),
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A key of a user or of an agent.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description: SESSION_WORDS,
        },
      },
      schemas: schemas.components,
      parameters: parameters.components,
      responses: refusals.components,
    },
    'x-tagGroups': tagGroups(tools),
  }
}

const pathsOf = (endpoints: Endpoints, tools: Tool[], parts: Parts): Record<string, Json> => {
  const paths: Record<string, Json> = {}
  const add = (path: string, method: string, operation: Json) => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  for (const [id, endpoint] of Object.entries(endpoints)) {
    add(endpoint.path, endpoint.method, endpointOperation(id, endpoint, parts))
    if (endpoint.hasHead)
      add(endpoint.path, 'HEAD', endpointOperation(`${id}Head`, withoutBodies(endpoint), parts))
  }
  for (const tool of tools)
    for (const operation of Object.values(tool.operations))
      add(
        `/api/v1/tools/${tool.name}/operations/${operation.name}`,
        'POST',
        toolOperation(tool, operation, parts),
      )
  return paths
}

/** What HEAD answers. */
const withoutBodies = (endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  responses: Object.fromEntries(
    Object.entries(endpoint.responses).map(([status, response]) => [
      status,
      '_zod' in response ? response : { description: response.description },
    ]),
  ),
})

/** Headings of headings: ours, and the tools' by category. */
const tagGroups = (tools: Tool[]) => [
  { name: 'Espalier', tags: Object.keys(TAGS) },
  ...[...new Set(tools.map(({ category }) => category))].map(category => ({
    name: `Tools: ${category}`,
    tags: tools.filter(tool => tool.category === category).map(toolTag),
  })),
]
