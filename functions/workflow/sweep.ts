import { runFunction } from '../../lib/core/function.ts'
import { sendDue } from '../../lib/notification/send-due.ts'
import { sweep } from '../../lib/workflow/sweep.ts'

/** Called on a schedule: looks after what should have moved, and has told what was not. */
export const handler = () =>
  runFunction({}, async () => {
    const results = await Promise.allSettled([sweep(), sendDue()])
    for (const result of results) if (result.status === 'rejected') throw result.reason
  })
