import type { Client, TaskView } from './client.ts'
import type { Script } from './script.ts'
import type { Timeline } from './timeline.ts'

/** What the job is played with. */
export type Stage = {
  client: Client
  timeline: Timeline
  script: Script
  url: string
  /** What runs, and what waits, on the machine at this moment. */
  activity: () => { running: number; waiting: number }
}

export type Outcome = { root: TaskView; child: TaskView | undefined }
