import { describe, expect, it } from "vitest";
import { growthCase, superlinearGrowth } from "../../../test/linear/growth.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { styledWidth } from "../tui/styled-text.ts";
import { highlightCode } from "./highlight.ts";
import { renderMarkdown } from "./render.ts";
import { appendMarkdown, EMPTY_MARKDOWN, finishMarkdown, openBlocks, parseMarkdown } from "./stream.ts";

const DOCUMENT = `# Title

A paragraph with **bold**, \`code\` and a [link](https://example.org).

1. first
2. second
   - nested

\`\`\`ts
const a = 1;
\`\`\`

> quoted

| name | value |
|---|---|
| a | 1 |
`;

const render = (source: string, width = 60): string[] =>
  renderMarkdown(parseMarkdown(source), { width, paint: plainPaint });

it("renders headings, lists, code, quotes, tables and links", () => {
  expect(render(DOCUMENT)).toEqual([
    "Title",
    "",
    "A paragraph with bold, code and a link",
    "(https://example.org).",
    "",
    "1. first",
    "2. second",
    "   • nested",
    "",
    "  const a = 1;",
    "",
    "│ quoted",
    "",
    "name │ value",
    "─────┼──────",
    "a    │ 1",
  ]);
});

it("shows headings without their marks, and boxes of a task list", () => {
  expect(render("### Third\n\n- [x] done\n- [ ] open\n- other\n\n1. [x] first")).toEqual([
    "Third",
    "",
    "☑ done",
    "☐ open",
    "• other",
    "",
    "1. ☑ first",
  ]);
});

it("aligns the columns of a table as its source specifies", () => {
  const table = "| name | ms | kind |\n|---|--:|:-:|\n| a | 1 | x |\n| long | 1000 | y |";
  expect(render(table)).toEqual(["name │   ms │ kind", "─────┼──────┼─────", "a    │    1 │  x", "long │ 1000 │  y"]);
});

it.each([20, 40, 80, 200])("fits %i columns", (width) => {
  const long = `${DOCUMENT}\n${"word ".repeat(100)}\n\n| ${"cell ".repeat(20)} | 漢字かな |\n|---|---|\n| x | ${"é".repeat(90)} |\n`;
  for (const line of render(long, width)) expect(styledWidth(line)).toBeLessThanOrEqual(width);
});

describe("a stream", () => {
  it.each([1, 3, 7, 1_000])("in chunks of %i characters gives the same as the whole", (size) => {
    let stream = EMPTY_MARKDOWN;
    const lines: string[][] = [];
    const style = { width: 60, paint: plainPaint };
    for (let at = 0; at < DOCUMENT.length; at += size) {
      const update = appendMarkdown(stream, DOCUMENT.slice(at, at + size));
      stream = update.stream;
      for (const block of update.closed) lines.push(renderMarkdown([block], style));
    }
    for (const block of finishMarkdown(stream)) lines.push(renderMarkdown([block], style));
    expect(lines.flatMap((block, index) => (index === 0 ? block : ["", ...block]))).toEqual(render(DOCUMENT));
  });

  it("keeps an unfinished list open after an empty line", () => {
    const { stream, closed } = appendMarkdown(EMPTY_MARKDOWN, "- one\n\n- two\n");
    expect(closed).toEqual([]);
    expect(openBlocks(stream)).toHaveLength(1);
  });

  it("closes a code block of 300 KB in parts, without losing a line", () => {
    let stream = appendMarkdown(EMPTY_MARKDOWN, "```\n").stream;
    let count = 0;
    const countLines = (lines: readonly string[]) =>
      void (count += lines.filter((line) => line.includes("line")).length);
    for (let at = 0; at < 3_000; at += 1) {
      const update = appendMarkdown(stream, `line ${at} ${"x".repeat(90)}\n`);
      stream = update.stream;
      expect(stream.open.length).toBeLessThan(20_000);
      if (update.closed.length > 0) countLines(renderMarkdown(update.closed, { width: 200, paint: plainPaint }));
    }
    countLines(renderMarkdown(finishMarkdown(stream), { width: 200, paint: plainPaint }));
    expect(count).toBe(3_000);
  });
});

describe("hostile Markdown", () => {
  const style = { width: 80, paint: ansiPaint, highlight: highlightCode };

  it.each(["> ", "1. ", "+ ", "- > ", "**_"])(
    "of 10,000 nested %s is shown as far as the limit, then as text",
    (mark) => {
      const lines = render(`before\n\n${mark.repeat(10_000)}end`);
      expect(lines[0]).toBe("before");
      expect(lines.join("")).toContain("end");
    },
  );

  it.each<[string, (size: number) => string]>([
    ...["__a", "!", "www.", "\t", "a*", "[", "é", "<!--"].map((unit): [string, (size: number) => string] => [
      JSON.stringify(unit),
      (size) => `x\n${unit.repeat(size / unit.length)}`,
    ]),
    ["code in one line", (size) => `\`\`\`js\n${"__a".repeat(size / 3)}\n`],
    ["code below a long fence", (size) => `\`\`\`${"a".repeat(16_000)}\n${"b\n".repeat(size / 2)}`],
  ])("of %s takes linear time", async (name, input) => {
    const run = (source: string): unknown => renderMarkdown(parseMarkdown(source), style);
    expect(await superlinearGrowth(growthCase(name, input, run), 32 * 1024)).toBeUndefined();
  });

  it.each(["`", "~"])("of one line of %s is split in linear time", async (unit) => {
    const fence = growthCase(unit, (size) => unit.repeat(size), parseMarkdown);
    expect(await superlinearGrowth(fence, 9 * 1024)).toBeUndefined();
  });

  it("with more cells than characters is shown as its source", () => {
    const table = `|${"a|".repeat(2_500)}\n|${"-|".repeat(2_500)}\n${"z\n".repeat(3_000)}`;
    expect(render(table).filter((line) => line === "z")).toHaveLength(3_000);
  });

  it("of one long line is closed in parts while it arrives", () => {
    let stream = EMPTY_MARKDOWN;
    let length = 0;
    for (let at = 0; at < 100; at += 1) {
      const update = appendMarkdown(stream, "x".repeat(1_000));
      stream = update.stream;
      expect(stream.open.length).toBeLessThan(20_000);
      length += update.closed.reduce((sum, { raw }) => sum + raw.length, 0);
    }
    expect(length + stream.open.length).toBe(100_000);
  });
});

it("escapes control, bidi and zero-width characters", () => {
  const hostile = "a\u001b[2Jb\u009bc \u202eevil\u202c \u200bz\u{e0041}ero\u0007 `\u001b]0;t\u0007`";
  const text = render(hostile).join("\n");
  expect(text).toBe("a[2Jbc evil zero ]0;t");
});

it("keeps emoji that consist of several characters", () => {
  expect(render("👩‍👩‍👧 ❤️ 漢字")).toEqual(["👩‍👩‍👧 ❤️ 漢字"]);
});

it("shows the real address of a link whose text is another address", () => {
  expect(render("[https://good.example](https://evil.example)")).toEqual([
    "https://good.example (https://evil.example)",
  ]);
});

it("colors code by its language", () => {
  expect(highlightCode('const a = "x"; // <b>', "ts", ansiPaint)?.join("\n")).toBe(
    `${ansiPaint("magenta", "const")} a = ${ansiPaint("green", '"x"')}; ${ansiPaint("dim", "// <b>")}`,
  );
  expect(highlightCode("x", "klingon", ansiPaint)).toBeUndefined();
});
