/** The bounds of file diffs in the log. */
import { expect, it } from "vitest";
import type { FileDiff } from "./events.ts";
import { boundFileDiff, boundFileDiffs } from "./file-diff.ts";

const numbered = (count: number, change: (line: number) => string | undefined = () => undefined): string =>
  Array.from({ length: count }, (_, at) => `${change(at + 1) ?? `line ${at + 1} ${"x".repeat(40)}`}\n`).join("");

it("keeps texts that are short", () => {
  const diff = { path: "a", before: "one\n", after: "two\n" };
  expect(boundFileDiff(diff)).toBe(diff);
});

it("reduces long texts to the changed lines and ten lines of context, with their line number", () => {
  const before = numbered(5_000);
  const after = numbered(5_000, (line) => (line === 3_000 ? "changed" : undefined));
  const { before: from, after: to, ...rest } = boundFileDiff({ path: "a", before, after });
  expect(rest).toEqual({ path: "a", line: 2_990 });
  expect([from?.split("\n").length, to?.split("\n").length]).toEqual([22, 22]);
  expect([from?.split("\n")[10]?.slice(0, 9), to?.split("\n")[10]]).toEqual(["line 3000", "changed"]);
  expect([from?.split("\n")[0]?.slice(0, 9), from?.split("\n")[20]?.slice(0, 9)]).toEqual(["line 2990", "line 3010"]);
});

it.each([
  ["at the start", "first\n", ""],
  ["at the end", "", "last\n"],
  ["after an empty first line", "\n\nfirst\n", ""],
])("finds the lines of an insertion %s", (_, head, tail) => {
  const before = numbered(5_000);
  const diff = boundFileDiff({ path: "a", before, after: head + before + tail });
  const [from, to, line] = [diff.before ?? "", diff.after ?? "", diff.line ?? 1];
  const lines = before.split("\n").slice(line - 1, line - 1 + from.split("\n").length - 1);
  expect(from).toBe(lines.map((text) => `${text}\n`).join(""));
  expect(to.length - from.length).toBe(head.length + tail.length);
  expect(to.startsWith(head) && to.endsWith(tail)).toBe(true);
});

it("cuts a change that is too long after a complete line, and says so", () => {
  const { before, after, truncated } = boundFileDiff({ path: "a", before: null, after: numbered(10_000) });
  expect([before, truncated, after?.endsWith("x\n")]).toEqual([null, true, true]);
  expect(after?.length).toBeLessThanOrEqual(100_000);
  const oneLine = boundFileDiff({ path: "a", before: "a".repeat(1e6), after: "b".repeat(1e6) });
  expect([oneLine.before?.length, oneLine.after?.length, oneLine.truncated]).toEqual([50_000, 50_000, true]);
});

it("does not split a surrogate pair", () => {
  expect(boundFileDiff({ path: "a", before: null, after: `x${"😀".repeat(60_000)}` }).after?.isWellFormed()).toBe(true);
});

it("omits the texts of diffs beyond the total, but names their files", () => {
  const diffs = Array.from({ length: 6 }, (_, at): FileDiff => ({
    path: `${at}`,
    before: null,
    after: "x".repeat(90_000),
  }));
  expect(boundFileDiffs(diffs).map(({ path, after, truncated }) => [path, after?.length, truncated])).toEqual([
    ...["0", "1", "2", "3"].map((path) => [path, 90_000, undefined]),
    ...["4", "5"].map((path) => [path, undefined, true]),
  ]);
});
