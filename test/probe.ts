import * as z from 'zod'

/** How often `counted` has run in this file's tests. */
export let runs = 0

/** What an operation that asks first and counts its runs is made of. */
export const counted = {
  parameters: z.object({}),
  requiresApprovalByDefault: true,
  describe: () => 'Do it',
  execute: async () => {
    runs += 1
    return 'done'
  },
}

/** An operation that does nothing but ask first. */
export const ask = {
  description: 'Ask first.',
  parameters: z.object({}),
  requiresApprovalByDefault: true,
  describe: () => 'Ask',
  execute: async () => 'asked',
}
