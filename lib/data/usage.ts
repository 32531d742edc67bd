import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb'

/** What this process has asked of DynamoDB: requests, and capacity units as AWS bills them. */
export type Usage = { requests: number; readUnits: number; writeUnits: number }

const usage: Usage = { requests: 0, readUnits: 0, writeUnits: 0 }

export const currentUsage = (): Usage => ({ ...usage })

export const countUsage = (
  kind: 'read' | 'write',
  consumed: ConsumedCapacity | ConsumedCapacity[] | undefined,
): void => {
  usage.requests += 1
  for (const { CapacityUnits = 0 } of [consumed ?? []].flat())
    usage[kind === 'read' ? 'readUnits' : 'writeUnits'] += CapacityUnits
}
