import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb'
import { addFigure } from '../core/log.ts'

/** What this process has asked of DynamoDB: requests, and capacity units as AWS bills them. */
export type Usage = { requests: number; readUnits: number; writeUnits: number }

const usage: Usage = { requests: 0, readUnits: 0, writeUnits: 0 }

export const currentUsage = (): Usage => ({ ...usage })

/** Counts one request, for the process and for the log line of what asked it. */
export const countUsage = (
  kind: 'read' | 'write',
  consumed: ConsumedCapacity | ConsumedCapacity[] | undefined,
): void => {
  const units = [consumed ?? []]
    .flat()
    .reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0)
  const name = kind === 'read' ? 'readUnits' : 'writeUnits'
  usage.requests += 1
  usage[name] += units
  addFigure('dynamodbRequests', 1)
  addFigure(name, units)
}
