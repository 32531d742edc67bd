import * as prices from '../bench/tasks/prices.ts'
import type { Counts } from './counts.ts'

/** Dollars by service. */
export type Bill = Record<(typeof SERVICES)[number], number>
export const SERVICES = [
  'DynamoDB',
  'Lambda',
  'Step Functions',
  'API and CloudFront',
  'CloudWatch',
] as const

/** What counts come to by AWS's lists. */
export const billOf = (counts: Counts): Bill => ({
  DynamoDB:
    counts.readUnits * prices.DYNAMODB_READ_UNIT + counts.writeUnits * prices.DYNAMODB_WRITE_UNIT,
  Lambda: counts.invocations * prices.LAMBDA_REQUEST + counts.gbSeconds * prices.LAMBDA_GB_SECOND,
  'Step Functions': counts.stateTransitions * prices.STATE_TRANSITION,
  'API and CloudFront':
    counts.httpRequests *
    (prices.API_REQUEST + prices.CLOUDFRONT_REQUEST + prices.CLOUDFRONT_FUNCTION_RUN),
  CloudWatch: (counts.logBytes / BYTES_PER_GB) * prices.LOG_GB,
})

const BYTES_PER_GB = 1_000_000_000

/** So many of each, together. */
export const sumOf = (parts: [count: number, each: Counts][]): Counts => {
  const total = { ...parts[0]?.[1] } as Counts
  for (const name of Object.keys(total) as (keyof Counts)[])
    total[name] = parts.reduce((sum, [count, each]) => sum + count * each[name], 0)
  return total
}

export const totalOf = (bill: Bill): number =>
  SERVICES.reduce((sum, service) => sum + bill[service], 0)
