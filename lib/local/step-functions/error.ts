/**
 * An error under a name of AWS's: what a state machine's Retry and Catch match by, and what an
 * API answer carries as its type.
 */
export const namedError = (name: string, message: string): Error =>
  Object.assign(new Error(message), { name })

/** An error that no Retry and no Catch may stop; the interpreter asks for these two. */
export const terminalError = (name: string, message: string): Error =>
  Object.assign(namedError(name, message), { isRetryable: false, isCatchable: false })
