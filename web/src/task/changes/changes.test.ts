import { describe, expect, it } from "vitest";
import type { TaskEvent } from "../../../../src/domain/task/events.ts";
import type { ChangedFile } from "../../../../src/domain/task/view.ts";
import {
  findLinePlace,
  findOutdated,
  formatCommentsPrompt,
  MAX_COMMENTS,
  parseKeptComments,
  type LineComment,
} from "./comments.ts";
import { buildFileTree } from "./file-tree.ts";
import { findMove } from "./moves.ts";
import { parsePatch, type PatchLine } from "./parse-patch.ts";
import { listScopes } from "./scopes.ts";
import { toSplitRows } from "./split-rows.ts";

const hunk = (...lines: readonly string[]) => {
  const count = (signs: string): number => lines.filter((line) => signs.includes(line.charAt(0))).length;
  const head = `@@ -1,${count(" -")} +1,${count(" +")} @@`;
  return parsePatch(["diff --git a/a b/a", "--- a/a", "+++ b/a", head, ...lines].join("\n"));
};

describe("the view with two columns", () => {
  const pairs = (...lines: readonly string[]): readonly string[] =>
    toSplitRows(hunk(...lines).rows).flatMap((row) =>
      row.kind === "pair" ? [`${row.left?.text ?? "."}|${row.right?.text ?? "."}`] : [],
    );

  it("puts removed lines beside the added ones that replace them", () => {
    expect(pairs(" a", "-b", "-c", "+d", " e")).toEqual(["a|a", "b|d", "c|.", "e|e"]);
  });

  it("keeps the order of changes that follow each other", () => {
    expect(pairs("+a", "-b", "+c", "+d")).toEqual([".|a", "b|c", ".|d"]);
  });
});

describe("the tree of files", () => {
  const file = (path: string): ChangedFile => ({ path, change: "modified", binary: false });
  const lines = (...paths: readonly string[]): readonly string[] =>
    buildFileTree(paths.map(file)).map(
      ({ kind, name, depth }) => `${"  ".repeat(depth)}${name}${kind === "folder" ? "/" : ""}`,
    );

  it("has folders first, and joins folders that contain only a folder", () => {
    expect(lines("z.txt", "src/a/b/c.ts", "src/a/b/d/e.ts", "docs/x.md")).toEqual([
      "docs/",
      "  x.md",
      "src/a/b/",
      "  d/",
      "    e.ts",
      "  c.ts",
      "z.txt",
    ]);
  });

  it("treats the names of object properties as file names", () => {
    expect(lines("__proto__/constructor", "toString")).toEqual(["__proto__/", "  constructor", "toString"]);
  });
});

describe("comments", () => {
  const comment: LineComment = { id: "1", path: "a", side: "new", line: 2, quote: "two", text: "Why?" };

  it("become one prompt, by file and line", () => {
    const removed: LineComment = { id: "2", path: "a", side: "old", line: 1, quote: "one  ", text: " Keep this. " };
    const other: LineComment = { id: "3", path: "B", side: "new", line: 9, quote: "nine", text: "Two\nlines" };
    expect(formatCommentsPrompt([comment, removed, other])).toBe(
      [
        "Please address these 3 review comments on your changes.",
        "B:9\n> nine\nTwo\nlines",
        "a:1 (removed line)\n> one\nKeep this.",
        "a:2\n> two\nWhy?",
      ].join("\n\n"),
    );
    expect(formatCommentsPrompt([comment])).toMatch(/^Please address this review comment on your changes\.\n\na:2\n/);
  });

  it("belong to the new line, or to the old one if it was removed", () => {
    const lines = hunk(" one", "-old", "+two").rows.filter((row): row is PatchLine => row.kind === "line");
    expect(lines.map((line) => findLinePlace(line))).toEqual([
      { side: "new", line: 1, quote: "one" },
      { side: "old", line: 2, quote: "old" },
      { side: "new", line: 2, quote: "two" },
    ]);
  });

  it("are outdated if the line is gone or has another text", () => {
    expect(findOutdated([comment], hunk(" one", "+two"))).toEqual([]);
    expect(findOutdated([comment], hunk(" one", "+three"))).toEqual([comment]);
    expect(findOutdated([comment], hunk(" one"))).toEqual([comment]);
  });

  it("are read from a storage that others may have written", () => {
    const kept = (value: unknown) => parseKeptComments(JSON.stringify(value)).comments;
    expect(kept({ savedAt: 1, comments: [comment, null, 5, { ...comment, side: "left" }] })).toEqual([comment]);
    expect(kept({ comments: Array.from({ length: 500 }, () => comment) })).toHaveLength(MAX_COMMENTS);
    for (const text of [null, "", "null", "[]", "{", '{"comments":{}}']) {
      expect(parseKeptComments(text), String(text)).toEqual({ savedAt: 0, comments: [] });
    }
  });
});

it("moves by line, page and file, and stays inside the diff", () => {
  const rows = ["file", "hunk", "line", "file", "line"].map((kind) => ({ kind }));
  const move = (key: string, from: number): number | undefined => findMove(key, from, rows, 3);
  expect([move("j", 0), move("ArrowDown", 4), move("k", 0), move("ArrowUp", 4)]).toEqual([1, 4, 0, 3]);
  expect([move("n", 0), move("n", 3), move("p", 4), move("p", 3), move("p", 0)]).toEqual([3, 3, 3, 0, 0]);
  expect([move("PageDown", 0), move("PageUp", 4), move("Home", 4), move("End", 0), move("x", 0)]).toEqual([
    3,
    1,
    0,
    4,
    undefined,
  ]);
});

it("offers the branch, each session, and the turns of a session that has more than one", () => {
  const started = (seq: number, name: string, sessionId: string, turnId: string): TaskEvent => {
    return { type: "stage.started", seq, taskId: "t", at: "", stage: 0, name, attempt: 1, sessionId, turnId };
  };
  const sessions = [
    { id: "ses_1", stage: "code" },
    { id: "ses_2", stage: "review" },
  ];
  const events = [
    started(1, "code", "ses_1", "a"),
    started(2, "review", "ses_2", "b"),
    started(3, "code", "ses_1", "c"),
  ];
  expect(listScopes({ sessions }, events).map(({ title, session, turn }) => [title, session, turn])).toEqual([
    ["Branch against its base", undefined, undefined],
    ["Session of code", "ses_1", undefined],
    ["Turn 1 of code", "ses_1", "a"],
    ["Turn 2 of code", "ses_1", "c"],
    ["Session of review", "ses_2", undefined],
  ]);
});
