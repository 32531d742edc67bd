import * as z from 'zod'
import { resultOf } from '../call/receipt.ts'
import { argumentsOf, CallResult, CallStatus, type ToolCall } from '../call/tool-call.ts'
import { bytesOf, loadLarge } from '../data/large.ts'
import { findTool, type ToolRegistry } from '../tool/registry.ts'
import { operationSchema } from '../tool/schema.ts'
import { WhoDecidesView } from './deciding.ts'
import { createRoom, type Room } from './room.ts'
import { AgentId, CallId, JsonSchema, MediaId, TaskId, Time } from './wire.ts'

export const CallState = CallStatus.meta({ id: 'ToolCallStatus' })
export const Digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be the digest of the call as you saw it: 64 hexadecimal digits')
  .meta({ id: 'Digest', description: 'What exactly would run. A decision repeats it.' })

const ResultView = z
  .object({
    is_error: z.boolean(),
    code: z.string().nullable(),
    content: z.string().describe('What the model reads.'),
    data: z.unknown().describe('What only people see.'),
    media: z.array(MediaId),
  })
  .meta({ id: 'ToolCallResult' })

const QuestionView = z
  .object({
    text: z.string(),
    options: z.array(z.string()).describe('Answers to choose from, if any; others may be given.'),
    until: Time.describe('When the task goes on without an answer.'),
    answer: z.string().nullable().describe('Null while the question waits.'),
    answered_by: z.string().nullable().describe('Null where nobody answered in time.'),
    answered_at: Time.nullable(),
  })
  .meta({ id: 'Question', description: 'What a call asks people; the answer is its result.' })

export const ToolCallView = z
  .object({
    id: CallId,
    status: CallState,
    task_id: TaskId.nullable(),
    root_task_id: TaskId.nullable(),
    agent_id: AgentId,
    tool: z.string(),
    operation: z.string(),
    icon: z.string().nullable().describe('The tool’s.'),
    description: z.string().describe('One sentence for whoever decides.'),
    arguments: z.record(z.string(), z.unknown()).nullable(),
    parameter_schema: JsonSchema.nullable().describe(
      'The operation’s parameters, in the order of an approval’s fields; null where the operation is gone.',
    ),
    requires_approval: z.boolean(),
    who_decides: WhoDecidesView.nullable().describe(
      'Of a call that waits for approval, in the list of approvals and read by itself; null elsewhere.',
    ),
    digest: Digest.nullable(),
    approval_expires_at: Time.nullable(),
    decided_at: Time.nullable(),
    decided_by: z.string().nullable(),
    edited: z.boolean().describe('It was approved with other arguments than the agent’s.'),
    created_at: Time,
    started_at: Time.nullable(),
    ended_at: Time.nullable(),
    truncated: z
      .boolean()
      .describe(
        'There was no room for the result, or for the arguments with parameter_schema, which are null: read the call by itself.',
      ),
    result: ResultView.nullable(),
    question: QuestionView.nullable(),
  })
  .meta({ id: 'ToolCall', description: 'A request to run an operation, and its receipt.' })
export type ToolCallView = z.infer<typeof ToolCallView>

/** Calls on the wire, in order: whole while there is room, and then without what is long. */
export const presentCalls = async (
  calls: ToolCall[],
  tools: ToolRegistry,
  room: Room = createRoom(),
) => {
  const presented: ToolCallView[] = []
  for (const call of calls) presented.push(await presentCall(call, tools, room))
  return presented
}

/**
 * A tool call on the wire, as people see it: with the data that no model gets. Its result, or its
 * arguments with their schema, are null where there is no room for them, and `truncated` says so.
 * A call by itself always has room for one of the two: for the result, once it has one.
 */
export const presentCall = async (
  call: ToolCall,
  tools: ToolRegistry,
  room: Room = createRoom(),
): Promise<ToolCallView> => {
  const { icon, schema } = await declarationOf(call, tools)
  const { result: own, answer } = call
  const hasResult = room.take((own ? bytesOf(own) : 0) + (answer ? bytesOf(answer) : 0))
  const hasArguments = room.take(
    bytesOf(call.arguments) + Buffer.byteLength(JSON.stringify(schema)),
  )
  const result = hasResult ? await resultOf(call) : undefined
  const question = await presentQuestion(call)
  return {
    id: call.id,
    status: call.status,
    task_id: call.taskId ?? null,
    root_task_id: call.rootId ?? null,
    agent_id: call.agentId,
    tool: call.tool,
    operation: call.operation,
    icon,
    description: call.description,
    arguments: hasArguments ? await argumentsOf(call) : null,
    parameter_schema: hasArguments ? schema : null,
    requires_approval: call.requiresApproval,
    who_decides: null,
    digest: call.digest ?? null,
    approval_expires_at: call.approvalExpiresAt ?? null,
    decided_at: call.decidedAt ?? null,
    decided_by: call.decidedBy ?? null,
    edited: call.editedBy !== undefined,
    created_at: call.createdAt,
    started_at: call.startedAt ?? null,
    ended_at: call.endedAt ?? null,
    truncated: !(hasResult && hasArguments),
    result: result
      ? {
          is_error: result.isError,
          code: result.code ?? null,
          content: result.content,
          data: result.data ?? null,
          media: result.media ?? [],
        }
      : null,
    question,
  }
}

const presentQuestion = async ({ question, answer, answeredBy, answeredAt }: ToolCall) =>
  question
    ? {
        text: question.text,
        options: question.options ?? [],
        until: question.until,
        answer: answer ? (await loadLarge(CallResult, answer)).content : null,
        answered_by: answeredBy ?? null,
        answered_at: answeredAt ?? null,
      }
    : null

/** What a call's tool says of it by now: neither tool nor operation need still be there. */
const declarationOf = async (call: ToolCall, tools: ToolRegistry) => {
  const tool = await findTool(tools, call.tool)
  const operation =
    tool && Object.hasOwn(tool.operations, call.operation)
      ? tool.operations[call.operation]
      : undefined
  return { icon: tool?.icon ?? null, schema: operation ? operationSchema(operation) : null }
}
