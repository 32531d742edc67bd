import {
  DURABLE_GB_MONTH_RETAINED,
  DURABLE_GB_WRITTEN,
  DURABLE_OPERATION,
  DURABLE_RETENTION_MONTHS,
  DYNAMODB_READ_UNIT,
  DYNAMODB_WRITE_UNIT,
  LAMBDA_GB_SECOND,
  LAMBDA_REQUEST,
  S3_REQUEST,
  STATE_TRANSITION,
} from './prices.ts'
import type { Used } from './used.ts'

const BYTES_PER_GB = 1_024 ** 3
/** What the function that runs a durable execution is thought to have: as much as a tick. */
const DURABLE_MEMORY_GB = 1

/** Dollars, by what they are for, with their sum. */
type Bill<Part extends string> = Record<Part | 'total', number>

export type CostFigures = {
  own: Bill<'dynamodb' | 'stepFunctions' | 'lambda' | 's3'>
  durable: Bill<'operations' | 'data' | 'lambda'> & { count: number }
  ratio: number
}

/** What a task's orchestration costs, beside the same steps as a durable function. */
export const costOf = (
  used: Used,
  { steps, bare }: { steps: number; bare: { ms: number; bytes: number } },
): CostFigures => {
  const own = ownBill(used)
  const durable = durableBill(steps, bare)
  return { own, durable, ratio: own.total / durable.total }
}

const ownBill = (used: Used): CostFigures['own'] =>
  summed({
    dynamodb: used.readUnits * DYNAMODB_READ_UNIT + used.writeUnits * DYNAMODB_WRITE_UNIT,
    stepFunctions: used.stateTransitions * STATE_TRANSITION,
    lambda: used.invocations * LAMBDA_REQUEST + used.gbSeconds * LAMBDA_GB_SECOND,
    s3: used.s3Requests * S3_REQUEST,
  })

/**
 * The least that keeps a call from running twice: each model request and each call a step of its
 * own. By https://docs.aws.amazon.com/lambda/latest/dg/durable-execution-sdk.html an execution's
 * start is one operation, and so is each step that succeeds at once; what a step returns is data
 * written. It waits for nothing, and the checkpoints themselves are thought to take no time.
 */
const durableBill = (
  steps: number,
  { ms, bytes }: { ms: number; bytes: number },
): CostFigures['durable'] => {
  const [start, requests, calls] = [1, steps + 1, steps]
  const count = start + requests + calls
  const gb = bytes / BYTES_PER_GB
  return {
    count,
    ...summed({
      operations: count * DURABLE_OPERATION,
      data: gb * (DURABLE_GB_WRITTEN + DURABLE_GB_MONTH_RETAINED * DURABLE_RETENTION_MONTHS),
      lambda: LAMBDA_REQUEST + (Math.ceil(ms) / 1_000) * DURABLE_MEMORY_GB * LAMBDA_GB_SECOND,
    }),
  }
}

const summed = <Part extends string>(parts: Record<Part, number>): Bill<Part> => {
  const total = Object.values<number>(parts).reduce((sum, part) => sum + part, 0)
  return { ...parts, total } as Bill<Part>
}
