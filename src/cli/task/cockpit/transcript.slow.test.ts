/** A transcript that is longer than the screen, in the cockpit. */
import { expect, it } from "vitest";
import { openCockpitFixture } from "./test-cockpit.ts";

it(
  "scrolls an open transcript, follows its end again, and draws itself again with Ctrl-L",
  { timeout: 90_000 },
  async () => {
    await using cockpit = await openCockpitFixture();
    await cockpit.shell("long", "seq 1001 1100");
    const screen = cockpit.command.screen(["task"], { rows: 16 });
    await screen.waitFor(/❯ ✓ done +seq 1001/);
    screen.press("enter");
    const end = await screen.waitFor(/\n1100\n[^]*long · seq 1001 1100\n.*Esc back · ↑↓ scroll/);
    expect(end).not.toContain("1050");
    screen.press("up", "up");
    await screen.waitFor(/… 2 more lines; G goes to the end/);
    screen.type("g");
    await screen.waitFor(/❯ seq 1001 1100[^]*1001[^]*more lines; G goes to the end/);
    screen.type("G");
    expect(await screen.waitFor(/\n1100\n[^]*long · seq/)).not.toContain("more lines");
    screen.press("escape");
    await screen.waitFor(/❯ ✓ done +seq 1001[^]*q quits/);
    screen.type("\x0c");
    await screen.waitFor(/^1 done · no server\n❯ ✓ done +seq 1001[^]*q quits/);
    expect(screen.all()).not.toMatch(/^1100$/m);
  },
);
