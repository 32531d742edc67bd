/** What callers of ours look at in what came of a command. */
export type Outcome = {
  output?: Record<string, unknown>
  error?: {
    name: string
    message: string
    fault: unknown
    status: unknown
    requestId: unknown
    Item: unknown
    CancellationReasons: unknown
  }
}

type Failure = Error & {
  $fault?: string
  $metadata?: { httpStatusCode?: number; requestId?: string }
  Item?: unknown
  CancellationReasons?: unknown
}

export const outcomeOf = async (send: () => Promise<object>): Promise<Outcome> => {
  try {
    const { $metadata: _, ...output } = (await send()) as Record<string, unknown>
    return { output }
  } catch (error) {
    const { name, message, $fault, $metadata, Item, CancellationReasons } = error as Failure
    const { httpStatusCode: status, requestId } = $metadata ?? {}
    return {
      error: { name, message, fault: $fault, status, requestId, Item, CancellationReasons },
    }
  }
}
