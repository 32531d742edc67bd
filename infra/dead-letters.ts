import { DEAD_LETTER_SECONDS } from '../lib/deploy/dead-letters.ts'

/** The one queue of what nobody could handle: ids and reasons, encrypted by SQS itself. */
export const makeDeadLetters = () =>
  new sst.aws.Queue('DeadLetters', {
    transform: {
      queue: { messageRetentionSeconds: DEAD_LETTER_SECONDS, sqsManagedSseEnabled: true },
    },
  })
