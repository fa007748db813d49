import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (name: string) => readFileSync(`${ROOT}${name}`, "utf8");

/** The rows of the tables, without their heads. */
const rows = read("SECURITY.md")
  .split("\n")
  .filter((line) => /^\| (?!-)/.test(line) && !/\| tested in +\|$/.test(line));

it("every row of the threat model names a test", () => {
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => !/`(?:src|test)\/[^`]+`/.test(row))).toEqual([]);
});

it("every path that SECURITY.md names exists", () => {
  const paths = [...read("SECURITY.md").matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, path]) => path!);
  expect(paths.filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([]);
});

it("every script that SECURITY.md names exists", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const named = [...read("SECURITY.md").matchAll(/`npm run ([a-z:]+)`/g)].map(([, name]) => name!);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
});
