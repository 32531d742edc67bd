import { defineConfig } from 'vitest/config'

// `npm run test:deploy`: needs `.sst/platform`, which the other tests do without.
export default defineConfig({
  test: {
    include: ['test/deploy/**/*.test.ts'],
    globalSetup: ['test/deploy/folder.ts'],
    // Each evaluation is a process of its own, two at once.
    fileParallelism: false,
    testTimeout: 200_000,
    hookTimeout: 200_000,
  },
})
