import type { Resource } from '../tool/define.ts'

/**
 * What a function may reach, by name; a deploy turns each into the few permissions that it needs.
 * `floor` is what every operation has: keys, agents and its own tool's settings to read, calls
 * to write, its own results.
 */
export type Reach =
  | Resource
  | 'floor'
  | 'principals'
  | 'settings'
  | 'calls'
  | 'decisions'
  | 'operations'

/** One Lambda, as the local runner loads it and `sst.config.ts` deploys it. */
export type FunctionSpec = {
  name: string
  /** The module below `functions/`, without its extension; it exports `handler`. */
  module: string
  reach: readonly Reach[]
  memoryMb: number
  timeoutSeconds: number
  /** The tool whose operation it runs: its role reads this tool's settings and no other's. */
  tool?: string
}

export type Route = { method: string; path: string; functionName: string }
export type Schedule = { name: string; rateMinutes: number; functionName: string }

export type RouteTable = { functions: FunctionSpec[]; routes: Route[]; schedules: Schedule[] }
