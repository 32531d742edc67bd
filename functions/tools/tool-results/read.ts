import { callOfKept, readKept } from '../../../lib/call/kept-result.ts'
import { getCall } from '../../../lib/call/tool-call.ts'
import { AppError, notFound } from '../../../lib/core/errors.ts'

/** The whole text of a result of one of the agent's own calls, or NOT_FOUND. */
export const readResult = async (name: string, agentId: string): Promise<string> => {
  const callId = callOfKept(name)
  const call = callId && (await getCall(callId))
  const bytes = call?.agentId === agentId ? await readKept(name) : undefined
  if (!bytes) throw notFound('result', name)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new AppError(
      'VALIDATION_ERROR',
      `The result has ${bytes.byteLength} bytes that are no text; a person can open it.`,
    )
  }
}
