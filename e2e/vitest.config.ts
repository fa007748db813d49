import { defineConfig } from "vitest/config";

/** Runs one real program at a time, or two if a suite says so: each needs hundreds of megabytes and a core. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["e2e/*.test.ts"],
    setupFiles: ["scripts/vitest-patience.mjs"],
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: "forks",
    fileParallelism: false,
    maxConcurrency: 2,
    retry: 0,
  },
});
