/** The review of an edit on a rendered terminal. */
import { expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";

it("shows a diff with context before the question, in color, and not again after the edit", async () => {
  const lines = Array.from({ length: 200 }, (_, at) => `line ${at + 1}\n`);
  const script = [
    call("read", { path: "long.txt" }),
    call("edit", { path: "long.txt", old_text: "line 100\n", new_text: "line one hundred\n" }),
    say("All done."),
  ];
  await using fixture = await openCommandFixture(script, { files: { "long.txt": lines.join("") } });
  const screen = fixture.screen(["run", "x"]);
  const asked = await screen.waitFor(
    "? Allow edit? long.txt\n  y yes · n no · a always · e no, with a reason · d whole diff",
  );
  const shown = [
    "? edit",
    "  long.txt +1 -1",
    "   97   line 97",
    "   98   line 98",
    "   99   line 99",
    "  100 - line 100",
    "  100 + line one hundred",
    "  101   line 101",
    "  102   line 102",
    "  103   line 103",
    "",
    "? Allow edit?",
  ].join("\n");
  expect(asked).toContain(shown);
  expect([screen.style("- line 100")?.color, screen.style("+ line one")?.color]).toEqual([1, 2]);
  screen.type("y");
  expect(await screen.exited).toBe(0);
  expect(screen.all()).toContain("✓ edit long.txt\n\nAll done.");
});
