import { afterAll, beforeAll, expect, it } from "vitest";
import type { SessionEvent } from "../../domain/events.ts";
import { shortId } from "../../domain/ids.ts";
import { call, say } from "../../testing/index.ts";
import { parseEventLines, openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
let first: string;
let second: string;

beforeAll(async () => {
  fixture = await openCommandFixture([
    say("one"),
    call("bash", { command: "echo hi" }),
    say("two"),
    say("three"),
    say("four"),
  ]);
  first = idIn((await fixture.rookery(["run", "the first\nof all", "--json"])).stdout);
  second = idIn((await fixture.rookery(["run", "the second", "--json", "--permissions", "all"])).stdout);
});
afterAll(() => fixture[Symbol.asyncDispose]());

function idIn(stdout: string): string {
  return parseEventLines(stdout)[0]?.sessionId ?? "";
}

it("lists sessions, newest first", async () => {
  const { code, stdout } = await fixture.rookery(["sessions"]);
  expect(code).toBe(0);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    [shortId(second), "idle", "anthropic", "1 turn", "just now", "the second"],
    [shortId(first), "idle", "anthropic", "1 turn", "just now", "the first"],
    [""],
  ]);
});

it.each([
  ["--limit 1", ["--limit", "1"], () => [second]],
  ["--agent anthropic", ["--agent", "anthropic"], () => [second, first]],
  ["--agent other", ["--agent", "other"], () => []],
  ["--cwd .", ["--cwd", "."], () => [second, first]],
  ["--cwd /", ["--cwd", "/"], () => []],
  ["--status idle", ["--status", "idle"], () => [second, first]],
  ["--status waiting", ["--status", "waiting"], () => []],
  ["--status interrupted", ["--status", "interrupted"], () => []],
])("filters the list by %s", async (_, args, expected) => {
  const { stdout } = await fixture.rookery(["sessions", "list", "--json", ...args]);
  const ids = parseEventLines(stdout).map((summary) => (summary as unknown as { id: string }).id);
  expect(ids).toEqual(expected());
});

it("shows the state of a session", async () => {
  const { code, stdout } = await fixture.rookery(["sessions", "show", uniquePrefix(second, first)]);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^session +${shortId(second)} \\(${second}\\)$`, "m"));
  expect(stdout).toMatch(/^status +idle$/m);
  expect(stdout).toMatch(/^permissions +all$/m);
  expect(stdout).toMatch(/^last outcome +done$/m);
  const state = await fixture.rookery(["sessions", "show", second, "--json"]);
  expect(JSON.parse(state.stdout)).toMatchObject({ id: second, status: "idle", turns: 1 });
});

it("prints what was said and done, and the events on request", async () => {
  const { stdout } = await fixture.rookery(["sessions", "show", shortId(second)]);
  expect(stdout).toMatch(/\n\n› the second\n✓ [^\n]*echo hi[^]*two\ndone · [^\n]*\n$/);
  await fixture.rookery(["run", "once more", "--session", shortId(second)]);
  const last = (await fixture.rookery(["sessions", "show", second, "--last", "1"])).stdout;
  expect(last).toContain(
    `… 1 earlier of 2 turns are not shown; show all: rookery sessions show ${shortId(second)} --all\n\n› once more\n`,
  );
  expect(last).not.toContain("› the second");
  const all = (await fixture.rookery(["sessions", "show", second, "--all"])).stdout;
  expect(all).toMatch(/› the second[^]*› once more/);
  const events = await fixture.rookery(["sessions", "show", first, "--events"]);
  expect(events).toEqual(await fixture.rookery(["sessions", "events", first]));
});

it("prints a log line by line", async () => {
  const { stdout } = await fixture.rookery(["sessions", "events", first]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^ {4}1 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}session\.opened {6} \//);
  expect(lines[1]).toMatch(/turn\.started +the first of all$/);
  expect(lines.at(-1)).toMatch(/turn\.ended +done$/);
});

it.each<[string, string[], (events: SessionEvent[]) => SessionEvent[]]>([
  ["all of it", [], (events) => events],
  ["what follows", ["--after", "3"], (events) => events.slice(3)],
  ["a part", ["--after", "1", "--limit", "2"], (events) => events.slice(1, 3)],
  ["nothing past the end", ["--after", "999"], () => []],
])("reads a log by cursor: %s", async (_, args, expected) => {
  const log = parseEventLines((await fixture.rookery(["sessions", "events", second, "--json"])).stdout);
  const { code, stdout } = await fixture.rookery(["sessions", "events", second, "--json", ...args]);
  expect(code).toBe(0);
  expect(parseEventLines(stdout)).toEqual(expected(log));
});

it("follows a log that another process writes", async () => {
  const following = fixture.start(["sessions", "events", second, "--follow", "--json"]);
  await following.waitForOutput(/"type":"turn.ended"/);
  await fixture.rookery(["run", "and on", "--session", second]);
  await following.waitForOutput(/"type":"turn.ended"[^]*"text":"and on"[^]*"type":"turn.ended"/);
  following.child.kill("SIGINT");
  const events = parseEventLines((await following.ended).stdout);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
});

it("exits quietly if the reader of the log closes the pipe", async () => {
  const reading = fixture.start(["sessions", "events", second, "--follow"]);
  await reading.waitForOutput(/session.opened/);
  reading.child.stdout.destroy();
  reading.child.kill("SIGTERM");
  expect((await reading.ended).stderr).toBe("");
});

it("closes a session and keeps its log", async () => {
  expect(await fixture.rookery(["sessions", "close", first])).toMatchObject({
    code: 0,
    stdout: `closed ${shortId(first)}; its log is kept: rookery sessions show ${shortId(first)}\n`,
  });
  expect((await fixture.rookery(["sessions", "list", "--status", "closed"])).stdout).toContain(shortId(first));
  expect((await fixture.rookery(["sessions", "events", first])).stdout).toMatch(/session\.closed\n$/);
});

it("forks a session, and deletes the fork without changing the original", async () => {
  const fork = await fixture.rookery(["sessions", "fork", first]);
  const [id = ""] = fork.stdout.split(" ");
  expect(fork.stdout).toContain(` is a fork of ${shortId(first)}; continue it with: `);
  expect((await fixture.rookery(["sessions", "events", id])).stdout).toContain("the first");
  expect((await fixture.rookery(["sessions", "delete", id])).stdout).toBe(`deleted ${id} and its log\n`);
  expect(await fixture.rookery(["sessions", "show", id])).toMatchObject({ code: 1 });
  expect((await fixture.rookery(["sessions", "events", first])).stdout).toContain("the first");
});

/** The shortest start of an ID that another one does not have. IDs of one millisecond differ only at their end. */
function uniquePrefix(id: string, other: string): string {
  const length = Array.from(id).findIndex((character, at) => character !== other[at]) + 1;
  return id.slice(0, length);
}
