import * as z from 'zod'
import { resultOf } from '../call/receipt.ts'
import type { ToolCall } from '../call/tool-call.ts'
import { CallState, Digest } from './present-call.ts'
import { CallId, MediaId, Time } from './wire.ts'

export const RunView = z
  .object({
    call_id: CallId,
    status: CallState,
    description: z.string(),
    digest: Digest.optional(),
    approval_expires_at: Time.optional(),
    is_error: z.boolean().optional(),
    content: z.string().optional().describe('The result as a model would read it.'),
    data: z.unknown().optional().describe('What only people see.'),
    media: z.array(MediaId).optional(),
  })
  .meta({ id: 'Run', description: 'What came of running an operation.' })
export type RunView = z.infer<typeof RunView>

/** What came of a call, for whoever asked: an error of the tool is a result as well. */
export const presentRun = async (call: ToolCall): Promise<RunView> => {
  const result = await resultOf(call)
  return {
    call_id: call.id,
    status: call.status,
    description: call.description,
    ...(call.digest ? { digest: call.digest, approval_expires_at: call.approvalExpiresAt } : {}),
    ...(result
      ? {
          is_error: result.isError,
          content: result.content,
          ...(result.data === undefined ? {} : { data: result.data }),
          ...(result.media ? { media: result.media } : {}),
        }
      : {}),
  }
}
