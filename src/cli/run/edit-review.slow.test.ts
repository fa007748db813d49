/** Long and allowed edits on a rendered terminal. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";

const LONG = Array.from({ length: 160 }, (_, at) => `new line ${at + 1}\n`).join("");
const SCRIPT = [call("write", { path: "long.txt", content: LONG }), say("All done.")];

it("folds a long diff and opens all of it in the pager", async () => {
  await using fixture = await openCommandFixture(SCRIPT);
  const copy = join(fixture.home, "paged");
  const screen = fixture.screen(["run", "x"], { rows: 60, env: { PAGER: `cat > ${copy}; echo paged` } });
  const asked = await screen.waitFor("d whole diff");
  expect(asked).toMatch(/\? Allow write\?\n[^]*\n {3}50 \+ new line 50\n {2}… 110 more lines; d opens all of them\n/);
  screen.type("d");
  await screen.waitFor(/^paged$[^]*d whole diff/m);
  const paged = readFileSync(copy, "utf8");
  expect(paged).toContain("+ new line 160");
  expect(paged).toContain("\u001b[32m");
  screen.type("y");
  expect(await screen.exited).toBe(0);
  expect(screen.all()).toMatch(/✓ write long\.txt — allowed by you\n {2}long\.txt new file \+160\n[^]*\n\nAll done\./);
});

it("does not cancel the turn at Ctrl-C in the pager, and reports a pager that does not exist", async () => {
  await using fixture = await openCommandFixture(SCRIPT);
  const screen = fixture.screen(["run", "x"], {
    rows: 60,
    env: { PAGER: "cat >/dev/null; echo pag''ing; read key </dev/tty" },
  });
  await screen.waitFor("d whole diff");
  screen.type("d");
  await screen.waitFor(/^paging$/m);
  screen.press("ctrl-c");
  await screen.waitFor(/^paging[^]*d whole diff/m);
  screen.type("n");
  expect(await screen.exited).toBe(0);
  expect(screen.all()).toContain("⊘ write long.txt — denied");

  await using other = await openCommandFixture(SCRIPT);
  const second = other.screen(["run", "x"], { rows: 60, env: { PAGER: "no-such-pager" } });
  await second.waitFor("d whole diff");
  second.type("d");
  await second.waitFor(
    /rookery: there is no pager "no-such-pager"; set PAGER to a program that exists[^]*d whole diff/,
    {
      scrollback: true,
    },
  );
});

it("shows the diff after an edit that nobody was asked about, folded and wrapped to a narrow terminal", async () => {
  const files = { "a.txt": `${"wide ".repeat(20)}\n` };
  const edit = { path: "a.txt", old_text: "wide wide wide", new_text: "new" };
  await using fixture = await openCommandFixture(
    [call("read", { path: "a.txt" }), { ...call("edit", { ...edit, replace_all: true }) }, say("Done.")],
    { files },
  );
  const screen = fixture.screen(["run", "x", "--permissions", "all"], { columns: 40, rows: 30 });
  expect(await screen.exited).toBe(0);
  expect(screen.all()).toMatch(/✓ edit a\.txt\n {2}a\.txt \+1 -1\n {2}1 - wide wide[^\n]*\n {6}[^\n]*wide/);
});
