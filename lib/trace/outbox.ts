import { type Invocation, invocation } from '../core/log.ts'
import { sendSpans } from './send.ts'
import type { Span } from './span.ts'

/** What a function's run has to tell: what it has told or will, and what is on its way. */
type Outbox = { told: Set<string>; waiting: Span[]; sending: Set<Promise<void>> }

const outboxes = new WeakMap<Invocation, Outbox>()

/**
 * Has a span told before the function returns; one that the same run has told already is not told
 * again. Outside of a function's run nobody could wait for it, and nothing is told.
 */
export const addSpan = (span: Span): void => {
  const run = invocation()
  if (!run) return
  const outbox = outboxes.get(run) ?? openOutbox(run)
  if (outbox.told.has(span.spanId)) return
  outbox.told.add(span.spanId)
  outbox.waiting.push(span)
}

/** Sends what there is on its way while the work goes on. */
export const sendOn = (): void => {
  const outbox = outboxes.get(invocation() ?? NOBODYS)
  if (!outbox || outbox.waiting.length === 0) return
  const sent = sendSpans(outbox.waiting.splice(0)).finally(() => outbox.sending.delete(sent))
  outbox.sending.add(sent)
}

const openOutbox = (run: Invocation): Outbox => {
  const outbox: Outbox = { told: new Set(), waiting: [], sending: new Set() }
  outboxes.set(run, outbox)
  run.endings.push(async () => {
    sendOn()
    await Promise.all(outbox.sending)
    // A run that goes on after its end, as the local runner lets it, begins another one.
    outboxes.delete(run)
  })
  return outbox
}

const NOBODYS: Invocation = { figures: {}, endings: [] }
