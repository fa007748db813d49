import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** `npm run test:slow` runs the `.slow.test.ts` files, and the files that have more or larger cases for it. */
const isSlowRun = process.env["ROOKERY_SLOW"] === "1";
const SLOW_VARIABLES = { ROOKERY_SLOW: "1", ROOKERY_LINEAR: "full" };

function findSlowTestFiles(): string[] {
  const names = new RegExp(`env\\["(${Object.keys(SLOW_VARIABLES).join("|")})"\\]`);
  return ["src", "test"]
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)))
    .filter(
      (path) => path.endsWith(".slow.test.ts") || (path.endsWith(".test.ts") && names.test(readFileSync(path, "utf8"))),
    );
}

/** Files and folders that are named on the command line run even if they are slow. */
const isFiltered = process.argv.slice(2).some((argument) => /^(src|test)\//.test(argument));

/**
 * Starts the folders first whose tests start many processes: they take longest, and a start takes longer the more
 * memory the worker has, which grows with every file that it has run.
 */
class SpawningFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const spawns = ({ moduleId }: TestSpecification): boolean => SPAWNING.test(moduleId);
    return [...sorted.filter(spawns), ...sorted.filter((file) => !spawns(file))];
  }
}

const SPAWNING = /\/(cli|fleet|matrix|pool|store|worktrees)\/|\/(kill|kill-matrix|examples)(\.slow)?\.test\.ts$/;

export default defineConfig({
  test: {
    include: isSlowRun ? findSlowTestFiles() : ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: isSlowRun || isFiltered ? ["node_modules/**"] : ["node_modules/**", "**/*.slow.test.ts"],
    env: isSlowRun ? SLOW_VARIABLES : {},
    globalSetup: ["scripts/vitest-setup.mjs"],
    setupFiles: ["scripts/vitest-patience.mjs"],
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    sequence: { sequencer: SpawningFirst },
    pool: "forks",
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    maxWorkers: 2, // most tests wait for other processes: on two cores, one worker leaves half of the machine idle
  },
});
