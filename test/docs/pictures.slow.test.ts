/**
 * Draws the pictures of docs/terminal.md from real screens. `ROOKERY_PICTURES=write` writes them; otherwise the test fails
 * if a picture is missing, or differs from what the command shows now.
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
  const commands = [
    ["init", "--quiet", "--initial-branch=main"],
    ["config", "user.name", "A"],
    ["config", "user.email", "a@example.com"],
    ["add", "."],
    ["commit", "--quiet", "-m", "first"],
  ];
  for (const args of commands) await promisify(execFile)("git", args, { cwd, env: fixture.env });
  return { fixture, cwd, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

/** Replaces what differs from run to run, with as many characters, so that the pictures stay aligned. */
function mask(svg: string): string {
  return svg.replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠋").replaceAll(/(?<= )[0-9a-z]{8}(?=, anthropic)/g, "4k7w2m9x"); // the short id of a session
}

/** The text of a picture, line by line, without durations: a fast tool shows none. */
function readLines(svg: string): string[] {
  const rows = new Map<string, string>();
  for (const [, y = "", text = ""] of svg.matchAll(/<text x="[^"]*" y="([^"]*)"[^>]*>([^<]*)</g)) {
    rows.set(y, `${rows.get(y) ?? ""}${text} `);
  }
  return Array.from(rows.values(), (row) =>
    row
      .replaceAll(/(?:· *)?(?<![\w.])\d+(?:\.\d+)?m?s\b/g, "")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
}

function compare(name: string, screen: ProgramScreen, title: string): void {
  const file = join(FOLDER, `${name}.svg`);
  const drawn = mask(screen.svg(title));
  if (WRITES) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, drawn);
  }
  expect(readLines(drawn).length).toBeGreaterThan(2);
  expect(readLines(readFileSync(file, "utf8"))).toEqual(readLines(drawn));
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

  it("show the cockpit with a task that is done and one that waits", async () => {
    await using project = await openProject();
    const { fixture, cwd } = project;
    const done = await fixture.start(["task", "start", PROMPT, "--id", "fix-mean", "--permissions", "all"], { cwd })
      .ended;
    expect(done).toMatchObject({ code: 0 });
    await fixture.start(["task", "start", "Document mean()", "--id", "document-mean", "--detach"], { cwd }).ended;
    const screen = fixture.screen(["task"], { columns, rows: 16, cwd });
    await screen.waitFor(/done +mean[^\n]* 1 file /);
    compare(`cockpit-${columns}`, screen, "The cockpit with two tasks");
  });
});
