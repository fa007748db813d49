import headless from "@xterm/headless";
import { expect, it } from "vitest";
import { displayWidth, simplifyEmoji } from "./display-width.ts";
import { plainPaint } from "./paint.ts";
import { renderTaskRows } from "./task/cockpit/rows.ts";
import { listedTask } from "./task/cockpit/test-state.ts";

const TITLES = [
  "plain",
  "👨‍👩‍👧 family",
  "🇩🇪 flag",
  "👍🏽 tone",
  "👩🏽‍💻 coder",
  "❤️ heart",
  "1️⃣ first",
  "🏳️‍🌈 pride",
  "🚀 go",
  "日本 cjk",
];

/** As terminals that measure each code point by itself, such as those of GNOME and VS Code. */
function codePointWidth(code: number): 0 | 1 | 2 {
  const character = String.fromCodePoint(code);
  if (/[\p{M}\p{Cf}]/u.test(character)) return 0;
  if (/\p{Regional_Indicator}/u.test(character)) return 1;
  return displayWidth(character) === 2 ? 2 : 1;
}

async function columnOf(line: string, text: string): Promise<number> {
  const terminal = new headless.Terminal({ cols: 120, rows: 3, allowProposedApi: true });
  terminal.unicode.register({
    version: "each",
    wcwidth: codePointWidth,
    charProperties(code: number, before: number) {
      const width = codePointWidth(code);
      const joined = width === 0 && ((before >> 1) & 3) > 0;
      return ((joined ? (before >> 1) & 3 : width) << 1) | (joined ? 1 : 0);
    },
  });
  terminal.unicode.activeVersion = "each";
  await new Promise<void>((done) => terminal.write(line, done));
  const cells = terminal.buffer.active.getLine(0);
  for (let column = 0; column < 120; column += 1)
    if (Array.from(text).every((letter, at) => cells?.getCell(column + at)?.getChars() === letter)) return column;
  return -1;
}

it("keeps the columns of cockpit rows in place after joined emoji, flags, tones and keycaps", async () => {
  const tasks = TITLES.map((title, at) => listedTask({ id: `t${at}`, title, agent: "claude" }));
  const options = { width: 80, paint: plainPaint, selectedId: undefined, changedFiles: new Map(), since: 0 };
  const rows = renderTaskRows(tasks, options);
  const columns = await Promise.all(rows.map((row) => columnOf(row, "claude")));
  expect(new Set(columns).size).toBe(1);
  expect(columns[0]).toBeGreaterThan(0);
});

it("keeps the first emoji of a sequence, and everything that is not one", () => {
  expect(TITLES.map(simplifyEmoji)).toEqual([
    "plain",
    "👨 family",
    "🇩🇪 flag",
    "👍 tone",
    "👩 coder",
    "❤ heart",
    "1 first",
    "🏳 pride",
    "🚀 go",
    "日本 cjk",
  ]);
});
