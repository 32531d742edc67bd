import { createHash } from 'node:crypto'

/**
 * The trace of a tree of tasks, by its root's id; of a call outside of tasks, by its own. It follows
 * from the id, so that hundreds of functions on many days make one trace and need not be told of it.
 */
export const traceIdOf = (rootId: string): string => digest(['trace', rootId]).slice(0, 32)

/** The span that stands for these parts: whoever knows them knows whose child a span is. */
export const spanIdOf = (...parts: (string | number)[]): string =>
  digest(['span', ...parts]).slice(0, 16)

/** A task's span; one that began anew after an end has another one for each of its lives. */
export const taskSpanId = ({ id, life = 0 }: { id: string; life?: number | undefined }): string =>
  spanIdOf('task', id, life)

export const callSpanId = (callId: string): string => spanIdOf('call', callId)

const digest = (parts: (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')
