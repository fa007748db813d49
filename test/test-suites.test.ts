/** `npm test` is what a newcomer runs: it has to cover every folder, and the slow tests have to run somewhere. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { TestProjectInlineConfiguration } from "vitest/config";
import config from "../vitest.config.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SRC = fileURLToPath(new URL("../src/", import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" });
/** Folders without tests, and the folders whose tests cover them. */
const TESTED_IN: Readonly<Record<string, string>> = { children: "agent/subagents", rookery: "session" };
const NEVER_RUN = ["node_modules/**"];
const isFilteredRun = process.argv.slice(2).some((argument) => /^(src|test)\//.test(argument));
const PRINT_INCLUDED = `
  import { loadConfigFromFile } from "vite";
  const loaded = await loadConfigFromFile({ command: "serve", mode: "test" }, "vitest.config.ts");
  console.log(JSON.stringify(loaded.config.test.include));
`;
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as { scripts: Record<string, string> };

it("finds tests in every folder of src/", () => {
  const folders = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const untested = folders.filter(({ name }) => {
    return !files.some((path) => path.startsWith(`${TESTED_IN[name] ?? name}/`) && path.endsWith(".test.ts"));
  });
  expect(untested.map(({ name }) => name)).toEqual([]);
});

it("runs every test file of src/, test/ and web/ in npm test, except the slow ones", () => {
  expect(config.test?.include).toEqual(["src/**/*.test.ts", "test/**/*.test.ts", "web/src/**/*.test.ts"]);
  expect(config.test?.exclude).toEqual(isFilteredRun ? NEVER_RUN : [...NEVER_RUN, "**/*.slow.test.ts"]);
  expect(scripts["test"]).toMatch(/&& vitest run$/); // a filter would leave files out
});

it("runs each file in its own process or in a shared one", () => {
  const { include = [], exclude = [] } = config.test ?? {};
  const [own, shared] = (config.test?.projects as TestProjectInlineConfiguration[]).map(({ test }) => test);
  expect(own?.include).toEqual(include);
  expect(own?.exclude).toEqual([...exclude, ...(shared?.include ?? [])]);
  const here = files.filter((path) => path.endsWith(".test.ts")).map((path) => `src/${path}`);
  expect(shared?.include?.filter((path) => path.startsWith("src/") && !here.includes(path))).toEqual([]);
  expect(shared?.include?.length).toBeGreaterThan(100);
});

it("runs the slow test files in npm run test:slow", () => {
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", PRINT_INCLUDED], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], ROOKERY_SLOW: "1" },
    encoding: "utf8",
  });
  const included = JSON.parse(run.stdout) as string[];
  const slow = files.filter((path) => path.endsWith(".slow.test.ts")).map((path) => `src/${path}`);
  expect(slow.length).toBeGreaterThan(20);
  expect(included).toEqual(expect.arrayContaining(slow));
  expect(scripts["test:slow"]).toMatch(/&& ROOKERY_SLOW=1 vitest run$/);
});

it("runs the checks and all tests in .ci/run", () => {
  const lines = readFileSync(`${ROOT}.ci/run`, "utf8").split("\n");
  expect(lines.filter((line) => line.startsWith("npm "))).toEqual(["npm run check", "npm test", "npm run test:slow"]);
});
