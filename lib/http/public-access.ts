import type { Access } from './access.ts'

/** No key is asked for. */
export const anyone = {
  who: 'Anyone, without a key.',
  find: () => undefined,
} satisfies Access
