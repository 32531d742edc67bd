import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // What needs SST's platform has a config of its own.
    exclude: ['test/deploy/**'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
