/** One run of one function; once it is dead it does nothing any more. */
export type Life = {
  id: number
  /** The function's name, and what it was called for. */
  role: string
  about: string
  dead: boolean
  /** Until when it does nothing, in milliseconds: it was frozen, or its time goes by elsewhere. */
  pausedUntil: number
  /** When its own time is over. */
  timeoutAt: number
  event: unknown
  /** The how-manieth thing that happened it was that it last wrote to a ledger. */
  ledgerAt: number
  /** Ends it, and tells whoever waits for its answer. */
  kill: (errorType: string) => void
}
