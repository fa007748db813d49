import { expect, it } from "vitest";
import { createCompletion } from "./completion.ts";

const completion = createCompletion({
  commands: () => [
    { name: "help", summary: "list" },
    { name: "agent", argument: "[name]", summary: "switch", values: async () => ["claude", "codex"] },
    { name: "files:read", summary: "a prompt" },
  ],
  files: async () => ["src/", "src/cli/", "README.md", "src/cli/main.ts", "src/cli/run/", "src/cli/run/run.ts"],
  filesIn: async (folder) => (folder === "dist/" ? ["dist/main.js"] : []),
  columns: () => 40,
});

async function suggest(line: string): Promise<string[] | undefined> {
  const found = await completion.getSuggestions([line], 0, line.length, { signal: new AbortController().signal });
  return found?.items.map(({ value }) => value);
}

it.each<[string, string[] | undefined]>([
  ["/", ["/help", "/agent", "/files:read"]],
  ["/ag", ["/agent"]],
  ["/agent co", ["codex"]],
  ["/help x", undefined],
  ["see @", ["@src/", "@README.md"]],
  ["see @main", ["@src/cli/main.ts"]],
  ["see @src/", ["@src/cli/"]],
  ["see @src/cli/", ["@src/cli/main.ts", "@src/cli/run/"]],
  ["see @dist/", ["@dist/main.js"]],
  ["see @none/", []],
  ["mail a@b", undefined],
  ["text /help", undefined],
])("completes %j", async (line, expected) => {
  expect(await suggest(line)).toEqual(expected);
});

it("puts a space after a file, and none after a folder", () => {
  const apply = (value: string) => completion.applyCompletion(["see @s"], 0, 6, { value, label: value }, "@s").lines;
  expect(apply("@src/cli/main.ts")).toEqual(["see @src/cli/main.ts "]);
  expect(apply("@src/")).toEqual(["see @src/"]);
});

it("ends a long description after a word, with a mark", async () => {
  const summary = "change what Enter does while the agent works";
  const narrow = createCompletion({
    commands: () => [{ name: "queue", summary }],
    files: async () => [],
    filesIn: async () => [],
    columns: () => 50,
  });
  const found = await narrow.getSuggestions(["/q"], 0, 2, { signal: new AbortController().signal });
  expect(found?.items[0]?.description).toBe("change what Enter does while…");
});
