/** The review of an edit on a rendered terminal. */
import { expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";

it("shows a diff with context in the question, in color, and keeps it below the edit", async () => {
  const lines = Array.from({ length: 200 }, (_, at) => `line ${at + 1}\n`);
  const script = [
    call("read", { path: "long.txt" }),
    call("edit", { path: "long.txt", old_text: "line 100\n", new_text: "line one hundred\n" }),
    say("All done."),
  ];
  await using fixture = await openCommandFixture(script, { files: { "long.txt": lines.join("") } });
  const screen = fixture.screen(["run", "x"]);
  const asked = await screen.waitFor("y yes · n no · a always · e deny with a reason · d whole diff");
  const diff = [
    "  long.txt +1 -1",
    "   97   line 97",
    "   98   line 98",
    "   99   line 99",
    "  100 - line 100",
    "  100 + line one hundred",
    "  101   line 101",
    "  102   line 102",
    "  103   line 103",
  ].join("\n");
  expect(asked).toContain(`? Allow edit?\n${diff}\n  y yes`);
  expect([screen.style("- line 100")?.color, screen.style("+ line one")?.color]).toEqual([1, 2]);
  screen.type("y");
  expect(await screen.exited).toBe(0);
  expect(screen.all()).toContain(`✓ edit long.txt — allowed by you\n${diff}\n\nAll done.`);
  expect(screen.all()).not.toContain("? ");
});
