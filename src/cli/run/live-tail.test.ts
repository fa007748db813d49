/** The output of a running command on a rendered terminal. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";

const COMMAND =
  "echo before; for n in 1 2 3 4 5 6 7; do printf '\\033[31mstep %s\\033[0m\\n' $n; done; until [ -e go ]; do sleep 0.1; done; exit 3";

it("shows the last five lines below the tool while it runs, and then its exit code and time", async () => {
  await using fixture = await openCommandFixture([call("bash", { command: COMMAND }), say("All done.")]);
  const screen = fixture.screen(["run", "x", "--permissions", "all"], { columns: 60, rows: 12 });
  const running = await screen.waitFor(
    /\S bash: echo before[^\n]*\n {2}step 3\n {2}step 4\n {2}step 5\n {2}step 6\n {2}step 7$/,
  );
  expect(running).not.toContain("step 2");
  expect(screen.style("step 7")).toMatchObject({ dim: true, color: undefined });
  screen.resize(40, 9);
  await screen.waitFor(/\S bash: echo before[^\n]*\n {2}step 3[^]*step 7$/);
  writeFileSync(join(fixture.repository.path, "go"), "");
  expect(await screen.exited).toBe(0);
  const all = screen.all();
  expect(all).toMatch(/✗ bash: echo before[^]*— exit code 3\s+· \d+\.\ds\n\nAll done\./);
  expect(all).not.toMatch(/^ {2}step \d/m);
});
