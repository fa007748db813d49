/** `npm test` is what a newcomer runs: it has to cover every folder, and the slow tests have to run somewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import config from "../vitest.config.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SRC = fileURLToPath(new URL("../src/", import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" });
/** Folders without tests, and the folders whose tests cover them. */
const TESTED_IN: Readonly<Record<string, string>> = { children: "agent/subagents" };
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as { scripts: Record<string, string> };

it("finds tests in every folder of src/", () => {
  const folders = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const untested = folders.filter(({ name }) => {
    return !files.some((path) => path.startsWith(`${TESTED_IN[name] ?? name}/`) && path.endsWith(".test.ts"));
  });
  expect(untested.map(({ name }) => name)).toEqual([]);
});

it("runs every test file of src/ and test/ in npm test", () => {
  expect(config.test?.include).toEqual(["src/**/*.test.ts", "test/**/*.test.ts"]);
  expect(config.test?.exclude).toBeUndefined();
  expect(scripts["test"]).toMatch(/&& vitest run$/); // a filter would leave files out
});

it("runs the checks and npm test in .ci/run", () => {
  const lines = readFileSync(`${ROOT}.ci/run`, "utf8").split("\n");
  expect(lines.filter((line) => line.startsWith("npm "))).toEqual(["npm run check", "npm test"]);
});
