import type { ErrorCode } from '../../core/errors.ts'
import type { Operation, Tool } from '../../tool/define.ts'
import { operationSchema } from '../../tool/schema.ts'
import type { SettingDefinition } from '../../tool/setting.ts'
import { type Declaration, type Endpoint, pathSchemas } from '../endpoint.ts'
import { RunView } from '../present-run.ts'
import type { Parameters } from './parameters.ts'
import { dataResponse, type Refusals, successes } from './responses.ts'
import type { Json, Schemas } from './schemas.ts'

export type Parts = { schemas: Schemas; parameters: Parameters; refusals: Refusals }

const BODY_ERRORS = [
  'INVALID_JSON',
  'UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_ERROR',
  'PAYLOAD_TOO_LARGE',
] as const satisfies ErrorCode[]

const CALLER_ERRORS = ['UNAUTHENTICATED', 'TOO_MANY_REQUESTS'] as const satisfies ErrorCode[]

/** A declared route, as the document has it. */
export const endpointOperation = (id: string, endpoint: Endpoint, parts: Parts): Json => {
  const { tag, summary, description, access, body, query, isPaged, isRepeatable, ifMatch } =
    endpoint
  const { ofPath, ofQuery, shared } = parts.parameters
  const parameters = [
    ...ofPath(pathSchemas(endpoint)),
    ...(query ? ofQuery(query) : []),
    ...(isPaged ? shared('limit', 'cursor') : []),
    ...(isRepeatable ? shared('idempotency-key') : []),
    ...(ifMatch === 'optional' ? shared('if-match') : []),
    ...(ifMatch === 'required' ? shared('required-if-match') : []),
  ]
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [...(description ? [description] : []), `**Who may:** ${access.who}`].join('\n\n'),
    ...(access.authenticate ? {} : { security: [] }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: bodyOf(parts.schemas.of(body, 'input')) } : {}),
    responses: {
      ...successes(endpoint, parts.schemas),
      ...parts.refusals.of(errorsOf(endpoint)),
    },
  }
}

/** Every code with which a route may refuse: most follow from what it declares. */
const errorsOf = (declaration: Declaration): ErrorCode[] => {
  const { method, access, errors = [], query, body, isPaged, isRepeatable, ifMatch } = declaration
  return [
    'INTERNAL',
    'ANSWER_TOO_LARGE',
    'VERSION_TOO_NEW',
    ...errors,
    ...(access.errors ?? []),
    ...(access.authenticate ? CALLER_ERRORS : []),
    ...(access.authenticate && method !== 'GET' ? (['CSRF_INVALID'] as const) : []),
    ...(Object.keys(pathSchemas(declaration)).length > 0 ? (['NOT_FOUND'] as const) : []),
    ...(query || isPaged || isRepeatable || ifMatch ? (['BAD_REQUEST'] as const) : []),
    ...(ifMatch ? (['VERSION_MISMATCH'] as const) : []),
    ...(ifMatch === 'required' ? (['VERSION_REQUIRED'] as const) : []),
    ...(body ? BODY_ERRORS : []),
  ]
}

/** What the gate and the route of every operation may refuse with. */
const RUN_ERRORS = [
  ...BODY_ERRORS,
  'BAD_REQUEST',
  ...CALLER_ERRORS,
  'CSRF_INVALID',
  'TOOL_DISABLED',
  'OPERATION_DISABLED',
  'NOT_FOUND',
  'TOOL_UNAVAILABLE',
  'REQUEST_IN_PROGRESS',
  'IDEMPOTENCY_MISMATCH',
  'DECRYPTION_FAILED',
  'SETTING_MISSING',
  'INTERNAL',
  'ANSWER_TOO_LARGE',
  'VERSION_TOO_NEW',
  'NOT_CONFIGURED',
] as const satisfies ErrorCode[]

/** The heading of a tool's operations. */
export const toolTag = ({ name }: Tool): string => `tools.${name}`

/** An operation's id in the document: neither name has a dot in it. */
export const runId = (tool: Tool, operation: Operation): string => `${tool.name}.${operation.name}`

/** A tool's operation, as the document has it. */
export const toolOperation = (tool: Tool, operation: Operation, parts: Parts): Json => {
  const { schemas, parameters, refusals } = parts
  const { effect, requiresApprovalByDefault, enabledByDefault } = operation
  const id = runId(tool, operation)
  return {
    operationId: id,
    tags: [toolTag(tool)],
    summary: `${tool.displayName}: ${operation.name.replaceAll('_', ' ')}`,
    description: describe(tool, operation),
    parameters: parameters.shared(
      'espalier-agent',
      effect === 'once' ? 'required-idempotency-key' : 'idempotency-key',
    ),
    requestBody: bodyOf(schemas.foreign(operationSchema(operation), id)),
    responses: {
      200: dataResponse({ status: '200', schema: RunView }, schemas),
      202: dataResponse({ status: '202', schema: RunView }, schemas),
      ...refusals.of(RUN_ERRORS),
    },
    'x-espalier-tool': tool.name,
    'x-espalier-operation': operation.name,
    'x-espalier-category': tool.category,
    'x-espalier-effect': effect,
    'x-espalier-requires-approval': requiresApprovalByDefault,
    'x-espalier-enabled': enabledByDefault,
  }
}

const EFFECT_WORDS = {
  read: 'a repeat changes nothing.',
  idempotent: 'a repeat has the same effect again.',
  once: 'a repeat has a second effect.',
} as const satisfies Record<Operation['effect'], string>

const describe = (tool: Tool, operation: Operation): string => {
  const { effect, requiresApprovalByDefault, enabledByDefault, timeoutSeconds } = operation
  const settings = Object.entries(tool.settings).map(describeSetting)
  return [
    operation.description,
    [
      `- **Effect:** \`${effect}\`: ${EFFECT_WORDS[effect]}`,
      `- **Approval:** ${requiresApprovalByDefault ? 'a person is asked first' : 'nobody is asked'}, unless the agent’s override says otherwise.`,
      `- **Enabled:** ${enabledByDefault ? 'with the tool' : 'by an override of the agent’s only'}.`,
      `- **Time:** ${timeoutSeconds} seconds at most.`,
      ...(settings.length > 0 ? [`- **Settings of the tool:** ${settings.join('; ')}.`] : []),
    ].join('\n'),
    '**Who may:** A key of the agent, of its owner, or an admin’s.',
  ].join('\n\n')
}

const describeSetting = ([key, setting]: [string, SettingDefinition]): string =>
  `\`${key}\` (${setting.label}; ${setting.type}${setting.required ? ', required' : ''})`

const bodyOf = (schema: Json): Json => ({
  required: true,
  content: { 'application/json': { schema } },
})
