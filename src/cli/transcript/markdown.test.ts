/** Messages of agents on a rendered terminal. */
import { afterEach, expect, it } from "vitest";
import { fault, say } from "../../testing/index.ts";
import { type CommandFixture, openCommandFixture } from "../test-command.ts";

const MESSAGE = `# Result

I **changed** the parser, which now accepts numbers with an exponent and rejects the rest.

- one
- two

| file | lines |
|---|---|
| a.ts | 12 |

\`\`\`ts
const a = 1;
\`\`\`
`;
const RENDERED = `Result

I changed the parser, which now accepts
numbers with an exponent and rejects the
rest.

• one
• two

file │ lines
─────┼──────
a.ts │ 12

  const a = 1;
`;

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

it("renders a message as Markdown in run and in the transcripts of sessions and tasks", async () => {
  fixture = await openCommandFixture([say(MESSAGE), say(MESSAGE)]);
  const run = fixture.screen(["run", "go"], { columns: 40, rows: 40 });
  expect(await run.exited).toBe(0);
  expect(run.all()).toMatch(new RegExp(`^${RENDERED}\ndone · `));
  expect(run.style("Result")).toMatchObject({ bold: true, underline: true });
  expect(run.style("const")?.color).toBe(5);
  expect((await fixture.rookery(["task", "start", "go", "--id", "job"])).stdout).toContain(MESSAGE);
  const commands = [
    [["sessions", "show", "last"], `› go\n\n${RENDERED}\ndone · `],
    [["task", "logs", "job"], `› go\n\n${RENDERED}\ndone · `],
    [["task", "show", "job"], `the last message of the agent:\n\n${RENDERED.trimEnd()}$`],
  ] as const;
  for (const [args, expected] of commands) {
    const screen = fixture.screen(args, { columns: 40, rows: 60 });
    expect(await screen.exited).toBe(0);
    expect(screen.all()).toMatch(new RegExp(expected));
  }
  const plain = fixture.screen(["sessions", "show", "last"], { columns: 100, rows: 60, env: { NO_COLOR: "1" } });
  await plain.exited;
  expect(plain.all()).toContain(`› go\n${MESSAGE}`);
});

it("shows a block while it streams, and keeps what was said before Ctrl-C", async () => {
  const text = ["# Title\n\n", "A **bold** beginning of a sentence that is longer ", "than the *line* of"];
  fixture = await openCommandFixture([fault("stall", { text, afterEvents: 6 })]);
  const screen = fixture.screen(["run", "go"], { columns: 40, rows: 12 });
  const shown = "Title\n\nA bold beginning of a sentence that is\nlonger than the line of\n";
  await screen.waitFor(new RegExp(`^${shown}\\S writing$`));
  expect(screen.style("bold")?.bold).toBe(true);
  expect(screen.style("line of")?.italic).toBe(true);
  screen.resize(30, 8);
  await screen.waitFor(/A bold beginning of a sentence\nthat is longer than the line\nof\n\S writing$/);
  screen.press("ctrl-c");
  expect(await screen.exited).toBe(130);
  expect(screen.all()).toMatch(
    /A bold beginning of a sentence\nthat is longer than the line\nof\n\s*rookery: cancelling; press[^]*\ncancelled · /,
  );
  expect(screen.all()).not.toContain("writing");
});

it("prints the source and redraws nothing with chat --plain", async () => {
  fixture = await openCommandFixture([say("plain **answer**", { firstByteDelayMs: 1_000 })]);
  const screen = fixture.screen(["chat", "--plain"]);
  await screen.waitFor(/> *$/);
  screen.type("hi\r");
  await screen.waitFor(/plain \*\*answer\*\*\ndone ·[^]*> *$/);
  expect(screen.bytes).not.toMatch(/thinking|\u001b\[[JK]/);
  screen.type("/quit\r");
  expect(await screen.exited).toBe(0);
});
