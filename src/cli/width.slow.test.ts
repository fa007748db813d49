import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { say } from "../testing/index.ts";
import type { CommandSpec } from "./command.ts";
import { PROGRAM } from "./commands.ts";
import { displayWidth } from "./display-width.ts";
import { formatHelp } from "./help.ts";
import { type CommandFixture, openCommandFixture } from "./test-command.ts";

let fixture: CommandFixture;

beforeAll(async () => {
  const servers = {
    far: { command: "no-such-program", args: ["--with", "a-long-option", "/a/long/path/to/a/folder"] },
  };
  const files = { ".mcp.json": JSON.stringify({ mcpServers: servers }) };
  fixture = await openCommandFixture(
    Array.from({ length: 20 }, () => say("Done.")),
    { files },
  );
  await fixture.rookery(["trust"]);
  const prompt =
    "Rename every variable whose name is too short to say what it is for, and explain each of the new names";
  await fixture.rookery(["run", prompt]);
  await fixture.rookery(["task", "start", prompt, "--detach"]);
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Words that a person copies: paths, URLs and ids. The terminal may break them. */
const COPIED = /[/\\]|^[\w-]{24,}/;

describe.each([60, 80, 120, 200])("at %i columns", (columns) => {
  it.each([
    [["sessions"]],
    [["sessions", "show", "last"]],
    [["task", "list", "--once"]],
    [["task", "show", "last"]],
    [["agents"]],
    [["agents", "--issues"]],
    [["usage"]],
    [["doctor"]],
    [["mcp", "list"]],
    [["inbox"]],
    [["demo"]],
    [["sessions", "show", "nothing"]],
    [["run", "Go"]],
  ])("rookery %j breaks no word and no command", async (args) => {
    await using screen = fixture.screen(args, { columns, rows: 50 });
    await screen.exited;
    const rows = screen.all().split("\n");
    expect(rows.filter((row) => displayWidth(row) > columns)).toEqual([]);
    const printed = screen.bytes.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, "").split(/\r?\n/);
    const lines = printed.map((line) => line.split("\r").at(-1) ?? "");
    const wide = lines.filter((line) => displayWidth(line) > columns);
    expect(wide.filter((line) => !/^ *(\S+ +)?\S+$/.test(line) && !/^ {2}\S* ?rookery /.test(line))).toEqual([]);
    const shown = new Set(rows.flatMap((row) => row.split(/\s+/)));
    const words = lines.flatMap((line) => line.split(/\s+/)).filter((word) => word !== "" && !COPIED.test(word));
    if (wide.length === 0) expect(words.filter((word) => !shown.has(word))).toEqual([]);
  });
});

function helpPages(path: readonly CommandSpec[]): (readonly CommandSpec[])[] {
  const inner = (path.at(-1)?.commands ?? []).filter(({ hidden }) => hidden !== true);
  return [path, ...inner.flatMap((command) => helpPages([...path, command]))];
}

describe.each([60, 80])("help at %i columns", (columns) => {
  it.each(helpPages([PROGRAM]).map((path) => [path.map(({ name }) => name).join(" "), path] as const))(
    "%s --help fits the screen",
    async (name, path) => {
      await using screen = fixture.screen([...name.split(" ").slice(1), "--help"], { columns, rows: 100 });
      await screen.exited;
      expect(screen.all()).toBe(formatHelp(path, { width: columns }).trimEnd()); // the terminal breaks no line
    },
  );
});
