/** What something uses of AWS. Units of DynamoDB are those that AWS bills. */
export type Counts = {
  readUnits: number
  writeUnits: number
  stateTransitions: number
  invocations: number
  /** Memory times the durations below. */
  gbSeconds: number
  /** Requests that come in over HTTP: by CloudFront, and by API Gateway. */
  httpRequests: number
  /** Lines of our own logs and Lambda's, in bytes. */
  logBytes: number
}

/**
 * What we think that things take, in seconds: nobody has measured them on AWS. A model's answer is
 * most of it, since a tick waits for it and is billed meanwhile.
 */
export const SECONDS = { modelAnswer: 3, operation: 0.2, tickItself: 0.2, request: 0.1, sweep: 0.3 }
const TICK_GB = 1
const FUNCTION_GB = 0.5

/** About so much is logged for each run of a function: START, END, REPORT, and a line of ours. */
const LOG_BYTES_PER_INVOCATION = 800

const uses = (
  counted: Pick<Counts, 'readUnits' | 'writeUnits' | 'stateTransitions' | 'invocations'>,
  thought: { gbSeconds: number; httpRequests?: number },
): Counts => ({
  httpRequests: 0,
  logBytes: counted.invocations * LOG_BYTES_PER_INVOCATION,
  ...counted,
  ...thought,
})

const { modelAnswer, operation, tickItself, request, sweep } = SECONDS

/**
 * Counted on the embedded services by test/scripts/costs.test.ts, in rows of some hundred bytes: a
 * model that says more, or results that are longer, take more units.
 */
export const COUNTS = {
  /** One step with its call: the model's answer, and an operation that the tick waits for. */
  step: uses(
    { readUnits: 13.1, writeUnits: 13.6, stateTransitions: 0, invocations: 1 },
    { gbSeconds: (modelAnswer + operation) * TICK_GB + operation * FUNCTION_GB },
  ),
  /** A task beside its steps: the request that makes it, its execution, its last answer. */
  task: uses(
    { readUnits: 11.9, writeUnits: 34.4, stateTransitions: 3, invocations: 2 },
    { gbSeconds: (tickItself + modelAnswer) * TICK_GB + request * FUNCTION_GB, httpRequests: 1 },
  ),
  /** A call that a person approves: the wait, the request that decides, one tick more. */
  approval: uses(
    { readUnits: 22, writeUnits: 29, stateTransitions: 3, invocations: 3 },
    { gbSeconds: tickItself * TICK_GB + 2 * request * FUNCTION_GB, httpRequests: 1 },
  ),
  /** A sub-agent that answers at once: its task, and the wait of the one that asked for it. */
  child: uses(
    { readUnits: 10, writeUnits: 51, stateTransitions: 3, invocations: 1 },
    { gbSeconds: (tickItself + modelAnswer) * TICK_GB },
  ),
  /** The sweeper, where there is nothing to do: once a minute. */
  sweep: uses(
    { readUnits: 8.5, writeUnits: 0, stateTransitions: 0, invocations: 1 },
    { gbSeconds: sweep * FUNCTION_GB },
  ),
} satisfies Record<string, Counts>
