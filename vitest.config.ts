import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    environment: 'node',
    // These end what hangs; a machine that is four times slower must not meet them.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // Passes as soon as it is so; a machine with other work may need longer than Vitest's one second.
    expect: { poll: { timeout: 10_000 } },
    reporters: ['default', './scripts/count-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
          globalSetup: ['test/support/bundles-of-run.ts'],
          // Vitest leaves one core to others; most of these tests wait for processes, so two cores are two files.
          maxWorkers: '100%',
        },
      },
      {
        extends: true,
        test: {
          name: 'lab',
          include: ['test/lab/**/*.lab.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
