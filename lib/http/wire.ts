import * as z from 'zod'
import { MAX_NAME_CHARS } from '../agent/limits.ts'
import { type Id, type IdKind, idOf } from '../core/ids.ts'
import { isReadable } from '../core/readable.ts'

// What many answers and parameters are made of. Each has a name in the OpenAPI document.

const namedId = <Kind extends IdKind>(kind: Kind, name: string): z.ZodType<Id<Kind>, Id<Kind>> =>
  idOf(kind).meta({ id: name, description: `The id of a ${name.slice(0, -2).toLowerCase()}.` })

export const UserId = namedId('user', 'UserId')
export const GroupId = namedId('group', 'GroupId')
export const KeyId = namedId('key', 'KeyId')
export const AgentId = namedId('agent', 'AgentId')
export const TaskId = namedId('task', 'TaskId')
export const CallId = idOf('call').meta({ id: 'CallId', description: 'The id of a tool call.' })
export const LlmConfigurationId = idOf('llm').meta({
  id: 'LlmConfigurationId',
  description: 'The id of an LLM configuration.',
})
export const MediaId = idOf('media').meta({
  id: 'MediaId',
  description: 'The id of a stored file.',
})

export const SubscriptionId = namedId('subscription', 'SubscriptionId')
export const DeliveryId = idOf('delivery').meta({
  id: 'DeliveryId',
  description: 'The id of a notice’s delivery; the receiver reads it as webhook-id.',
})
export const SessionId = namedId('session', 'SessionId')
export const InvitationId = namedId('invitation', 'InvitationId')

export const PrincipalId = z
  .union([UserId, GroupId])
  .meta({ id: 'PrincipalId', description: 'Who owns something: a user or a group.' })

export const Time = z.iso.datetime().meta({ id: 'Time', description: 'ISO 8601, in UTC.' })

export const Name = z
  .string()
  .trim()
  .min(1)
  .max(MAX_NAME_CHARS)
  .refine(isReadable, 'must be one line with something to see in it')
  .describe(`At most ${MAX_NAME_CHARS} characters, without blanks around it.`)

export const ToolName = z.string().describe('The name of a tool, as GET /api/v1/tools lists it.')
export const OperationName = z.string().describe('The name of one of the tool’s operations.')

export const SettingKey = z.string().describe('The key of one of the tool’s settings.')

export const SettingValue = z
  .union([z.string(), z.number(), z.boolean(), z.array(z.string())])
  .meta({ id: 'SettingValue' })

/** A JSON Schema as data of an answer. */
export const JsonSchema = z
  .custom<object>()
  .meta({ id: 'JsonSchema', type: 'object', description: 'A JSON Schema (2020-12).' })
