/** Lengths, in characters: a name fits a line, a system prompt an item. */
export const MAX_NAME_CHARS = 100
export const MAX_DESCRIPTION_CHARS = 1_000
export const MAX_SYSTEM_PROMPT_CHARS = 50_000

/** Steps that an agent's task may take: the default and the most. */
export const DEFAULT_MAX_STEPS = 10
export const MAX_MAX_STEPS = 100
/** Tokens that a task may be given at most; a thousand times what the largest contexts hold. */
export const MAX_MAX_TOKENS = 1_000_000_000
export const MAX_MAX_COST_USD = 10_000
/** How often a failed task may be tried again, and how long after. */
export const MAX_MAX_RETRIES = 10
export const DEFAULT_RETRY_AFTER_MINUTES = 5
/** A day. */
export const MAX_RETRY_AFTER_MINUTES = 1_440

/** One note's length, in characters, and how many an agent keeps. */
export const MAX_NOTE_CHARS = 10_000
export const MAX_NOTES = 100
