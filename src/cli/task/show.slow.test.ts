/** `rookery task show` on a rendered terminal. */
import { afterEach, expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { type CommandFixture, openCommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

const PROMPT = "Write two lines, and explain what you did";

it("starts with the title and the status, and ends with the next commands and the last message", async () => {
  fixture = await openCommandFixture([
    call("write", { path: "src/b.txt", content: "one\ntwo\n" }),
    say("I wrote **two** lines."),
  ]);
  await fixture.rookery(["task", "start", PROMPT, "--id", "two", "--permissions", "all"]);
  await using screen = fixture.screen(["task", "show", "two"], { rows: 40 });
  expect(await screen.exited).toBe(0);
  const shown = screen.all();
  expect(shown).toMatch(new RegExp(`^${PROMPT}\n✓ done · \\d+s · ~\\$[\\d.]+\n\ntask +two\nagent +anthropic\n`));
  expect(shown).toMatch(
    /\n1 file changed, \+2 -0 · rookery task diff two\n {2}src\/b\.txt {2}\+2 -0 new\n\n {2}rookery task diff two +show/,
  );
  expect(shown).toMatch(/task remove two[^\n]*\n\nthe last message of the agent:\n\nI wrote two lines\.$/);
  expect(screen.style(PROMPT)).toMatchObject({ bold: true });
  expect(screen.style("✓ done")?.color).toBe(2);
  expect(screen.style("agent  ")).toMatchObject({ dim: true });
});

it("shows a few lines of a long edit that waits, below the state of the task", async () => {
  const content = Array.from({ length: 160 }, (_, at) => `new line ${at + 1}\n`).join("");
  fixture = await openCommandFixture([call("write", { path: "long.txt", content }), say("Done.")]);
  await using task = fixture.screen(["task", "start", PROMPT, "--id", "long"], { rows: 40 });
  await task.waitFor("always");
  await using screen = fixture.screen(["task", "show", "long"], { rows: 40 });
  expect(await screen.exited).toBe(0);
  const shown = screen.visible();
  expect(shown).toMatch(new RegExp(`^${PROMPT}\n\\? waiting for an answer ·`));
  expect(shown).toMatch(
    /new line 9\n {2}… 151 more lines; see all of it: rookery task, then press a\nanswer with: rookery answer/,
  );
});
