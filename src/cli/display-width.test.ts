import headless from "@xterm/headless";
import { expect, it } from "vitest";
import { lexer, type Tokens } from "marked";
import { displayWidth, simplifyEmoji, styledWidth, truncateStyled, truncateToWidth } from "./display-width.ts";
import { renderTable } from "./markdown/table.ts";
import { ansiPaint, plainPaint } from "./paint.ts";
import { renderTaskRows } from "./task/cockpit/rows.ts";
import { listedTask } from "./task/cockpit/test-state.ts";
import { renderItems } from "./tui/select-list.ts";

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

/** The width in terminals that measure each code point separately, such as those of GNOME and VS Code. */
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
  expect(await columnsOf(renderTaskRows(tasks, options), "claude")).toHaveLength(1);
});

it("keeps the columns of pickers in place, also of titles that are truncated", async () => {
  const items = [...TITLES, ...TITLES.map((title) => title.repeat(20))].map((label, at) => ({
    value: `${at}`,
    label,
    facts: ["claude", "now"],
  }));
  expect(await columnsOf(renderItems(items, { selected: 3, width: 60, paint: plainPaint }), "claude")).toHaveLength(1);
});

it("keeps the columns of Markdown tables in place", async () => {
  const markdown = `| title | agent |\n| --- | --- |\n${TITLES.map((title) => `| ${title} | claude |\n`).join("")}`;
  const [table] = lexer(markdown);
  const rows = renderTable(table as Tokens.Table, { width: 60, paint: plainPaint }).slice(2);
  expect(rows).toHaveLength(TITLES.length);
  expect(await columnsOf(rows, "claude")).toHaveLength(1);
});

it("measures and truncates styled text as the text without styles", () => {
  for (const title of TITLES) {
    const styled = ansiPaint("bold", ansiPaint("red", title));
    expect(styledWidth(styled)).toBe(displayWidth(title));
    for (let width = 1; width <= displayWidth(title); width += 1) {
      const cut = truncateStyled(styled, width);
      expect(cut.replaceAll(/\u001b\[\d+m/g, "")).toBe(truncateToWidth(title, width));
      expect(styledWidth(cut)).toBeLessThanOrEqual(width);
    }
  }
});

/** The columns in which the text starts, each once. */
async function columnsOf(lines: readonly string[], text: string): Promise<number[]> {
  const columns = await Promise.all(lines.map((line) => columnOf(line, text)));
  expect(Math.min(...columns)).toBeGreaterThan(0);
  return [...new Set(columns)];
}

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
