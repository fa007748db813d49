/**
 * Draws the pictures of docs/terminal.md from real screens. `ROOKERY_PICTURES=write` writes them; otherwise the test fails
 * if a picture is missing, or shows something else than the command does now.
 */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { openCommandFixture } from "../../src/cli/test-command.ts";
import { calls, say, type Script } from "../../src/testing/index.ts";
import type { ProgramScreen } from "../support/screen.ts";

const FOLDER = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const WRITES = process.env["ROOKERY_PICTURES"] === "write";

const BEFORE = `export function add(a: number, b: number): number {
  return a + b;
}

export function mean(values: number[]): number {
  let sum = 0;
  for (const value of values) sum = add(sum, value);
  return sum / values.length;
}
`;
const [OLD_LINE, NEW_LINE] = [
  "  return sum / values.length;",
  "  return values.length === 0 ? 0 : sum / values.length;",
];
const PROMPT = "mean() of an empty list is NaN. Fix it.";
const SUMMARY = `## What changed

\`mean\` of an empty list was **NaN**; it is 0 now.

| input    | before | after |
| -------- | ------ | ----- |
| \`[]\`     | NaN    | 0     |
| \`[1, 3]\` | 2      | 2     |
`;

const editsTheMean: Script = ({ messages }) => {
  const results = messages.flatMap(({ toolResults }) => toolResults).length;
  if (results === 0) return calls([{ name: "read", input: { path: "mean.ts" } }]);
  if (results === 1) {
    return calls([{ name: "edit", input: { path: "mean.ts", old_text: OLD_LINE, new_text: NEW_LINE } }]);
  }
  return say(SUMMARY);
};

/** A repository in the home directory, so that its path is short and the same in every run. */
async function openProject() {
  const fixture = await openCommandFixture(editsTheMean);
  const cwd = join(fixture.home, "project");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "mean.ts"), BEFORE);
  const author = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
  for (const args of [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "."],
    [...author, "commit", "-qm", "first"],
  ]) {
    await promisify(execFile)("git", args, { cwd, env: fixture.env });
  }
  return { fixture, cwd, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

/** Replaces what differs from run to run, with as many characters, so that the pictures stay aligned. */
function mask(svg: string): string {
  return svg
    .replaceAll(/(?<![\w.])\d+(?:\.\d+)?(m?s)\b/g, (time, unit: string) => `0${unit}`.padStart(time.length))
    .replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠋")
    .replaceAll(/\bses_[0-9a-z]+/g, (id) => "ses_01k0000000000000000000".slice(0, id.length));
}

function compare(name: string, screen: ProgramScreen, title: string): void {
  const file = join(FOLDER, `${name}.svg`);
  const drawn = mask(screen.svg(title));
  if (WRITES) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, drawn);
  }
  expect(readFileSync(file, "utf8")).toBe(drawn);
}

describe.each([80, 120])("the pictures with %i columns", (columns) => {
  it("show a chat that asks before an edit, and its result", async () => {
    await using project = await openProject();
    const screen = project.fixture.screen(["chat"], { columns, rows: 34, cwd: project.cwd });
    await screen.waitFor("main");
    screen.type(PROMPT);
    screen.press("enter");
    await screen.waitFor("Allow edit");
    compare(`diff-${columns}`, screen, "A chat that asks before it edits a file, with the diff");
    screen.type("y");
    await screen.waitFor(/^done ·/m);
    compare(`chat-${columns}`, screen, "A chat after the edit, with a table in the answer");
  });

  it("show the inbox with a request that waits", async () => {
    await using project = await openProject();
    const { fixture, cwd } = project;
    const running = fixture.start(["run", PROMPT, "--permissions", "ask"], { cwd });
    await running.waitForOutput(/waiting for a decision/);
    const screen = fixture.screen(["inbox"], { columns, rows: 12, cwd });
    expect(await screen.exited).toBe(0);
    compare(`inbox-${columns}`, screen, "The inbox with one request");
    running.child.kill("SIGTERM");
    await running.ended;
  });
});
