import headless from "@xterm/headless";
import { expect, it } from "vitest";
import { InlineScreen, type LiveRegion } from "./inline-screen.ts";

/** Runs the screen against a terminal emulator. */
function open(columns: number, rows: number) {
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 1_000, allowProposedApi: true });
  const screen = new InlineScreen({
    write: (text) => terminal.write(text),
    size: () => ({ columns: terminal.cols, rows: terminal.rows }),
  });
  const lines = async (): Promise<string[]> => {
    await new Promise<void>((resolve) => terminal.write("", resolve));
    const buffer = terminal.buffer.active;
    const all = Array.from(
      { length: buffer.length },
      (_, at) => buffer.getLine(at)?.translateToString(true).trimEnd() ?? "",
    );
    return all.slice(0, all.findLastIndex((line) => line !== "") + 1);
  };
  const cursor = () => ({
    row: terminal.buffer.active.baseY + terminal.buffer.active.cursorY,
    column: terminal.buffer.active.cursorX,
  });
  return { terminal, screen, lines, cursor };
}
const live = (...lines: string[]): LiveRegion => ({ lines, cursor: { row: lines.length - 1, column: 2 } });

it("keeps finished lines above the live region, in order and once", async () => {
  const { screen, lines, cursor } = open(20, 6);
  screen.draw(live("busy", "> "));
  for (let index = 1; index <= 9; index += 1) {
    screen.print([`line ${index}`]);
    screen.draw(live("busy", "> "));
  }
  expect(await lines()).toEqual([...Array.from({ length: 9 }, (_, at) => `line ${at + 1}`), "busy", ">"]);
  expect(cursor()).toEqual({ row: 10, column: 2 });
});

it("erases lines that the live region no longer has", async () => {
  const { screen, lines } = open(20, 6);
  screen.draw(live("a", "b", "c", "> "));
  screen.draw(live("x", "> "));
  expect(await lines()).toEqual(["x", ">"]);
  screen.draw(live("x", "y", "> "));
  expect(await lines()).toEqual(["x", "y", ">"]);
});

it("shows the end of a region that is higher than the screen", async () => {
  const { screen, lines } = open(20, 4);
  screen.draw(live("1", "2", "3", "4", "> "));
  expect(await lines()).toEqual(["3", "4", ">"]);
});

it.each([
  [40, 20],
  [20, 40],
  [40, 7],
])("redraws once after the width changes from %i to %i", async (before, after) => {
  const { terminal, screen, lines } = open(before, 12);
  screen.print(["fixed"]);
  screen.draw(live("a line of thirty characters 123", "short", "> hi"));
  terminal.resize(after, 12);
  screen.draw(live("new", "> hi"));
  const shown = await lines();
  expect(shown.filter((line) => line.includes("fixed"))).toHaveLength(1);
  expect(shown.filter((line) => line.includes("> hi"))).toHaveLength(1);
  expect(shown.join("\n")).not.toContain("short");
});

it("leaves finished lines when the region is cleared", async () => {
  const { screen, lines } = open(20, 6);
  screen.print(["one"]);
  screen.draw(live("busy", "> "));
  screen.print(["two"]);
  screen.clear();
  expect(await lines()).toEqual(["one", "two"]);
});
