import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["scripts/vitest-setup.mjs"],
    setupFiles: ["scripts/vitest-patience.mjs"],
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2, // most tests wait for other processes: on two cores, one worker leaves half of the machine idle
  },
});
