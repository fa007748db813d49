import { describe, expect, it } from "vitest";
import type { EventBody, FileDiff, SessionEvent } from "../../domain/events.ts";
import { toPendingRequest, formatRequestDetails } from "./pending-request.ts";

function shown(tool: string, input: unknown, diffs?: FileDiff[], title = "a title that tells nothing"): string[] {
  const body: EventBody = {
    type: "permission.requested",
    requestId: "r1",
    toolId: "t1",
    tool,
    title,
    kind: "other",
    input,
    ...(diffs !== undefined && { diffs }),
  };
  const event = { ...body, seq: 1, at: "2026-01-01T00:00:00.000Z", sessionId: "ses_1", agent: "a" } as SessionEvent;
  const asked = toPendingRequest(event);
  return asked === undefined ? [] : formatRequestDetails(asked);
}

describe("formatRequestDetails", () => {
  it.each<[string, string, unknown, string[]]>([
    ["prints the command", "bash", { command: "npm test" }, ["  command: npm test"]],
    [
      "prints every line of a command",
      "bash",
      { command: "echo harmless\ntouch pwned\n" },
      ["  command (3 lines):", "  │ echo harmless", "  │ touch pwned", "  │ "],
    ],
    ["prints all other fields", "bash", { command: "a", timeout_ms: 5 }, ["  command: a", "  timeout_ms: 5"]],
    [
      "prints the file and its new content",
      "write",
      { path: "a.txt", content: "one\ntwo" },
      ["  path: a.txt", "  content (2 lines):", "  │ one", "  │ two"],
    ],
    [
      "prints the change of a file",
      "edit",
      { path: "a.txt", old_text: "- 1", new_text: "+ 1", replace_all: true },
      ["  path: a.txt", "  old_text: - 1", "  new_text: + 1", "  replace_all: true"],
    ],
    ["prints nested values as JSON", "x", { a: { b: [1] } }, [`  a: {"b":[1]}`]],
    [
      "prints the lines of nested text",
      "apply_patch",
      { changes: [{ path: "a.txt", kind: { type: "add" }, diff: "one\ntwo" }] },
      [
        "  changes.0.path: a.txt",
        `  changes.0.kind: {"type":"add"}`,
        "  changes.0.diff (2 lines):",
        "  │ one",
        "  │ two",
      ],
    ],
    ["prints text that is not an object", "x", "text\nmore", ["  input (2 lines):", "  │ text", "  │ more"]],
    ["prints null for a missing input", "x", undefined, ["  input: null"]],
    [
      "escapes control characters that move the cursor or hide text",
      "bash",
      { command: "a\u001b[2K\rb\u202e\u200b\u009b", "k\n\u0007": "\ud800" },
      ["  command: a<U+001B>[2K<U+000D>b<U+202E><U+200B><U+009B>", "  k<U+000A><U+0007>: <U+D800>"],
    ],
  ])("%s", (_, tool, input, expected) => {
    expect(shown(tool, input)).toEqual(expected);
  });

  it("prints a command of several thousand characters completely", () => {
    const command = Array.from({ length: 1_000 }, (_, index) => `echo ${index}`).join("\n");
    expect(shown("bash", { command })).toEqual([
      "  command (1,000 lines):",
      ...command.split("\n").map((line) => `  │ ${line}`),
    ]);
  });

  it.each([
    ["command", `${"a".repeat(50_000)}; rm -rf x`, 34_010],
    ["content", `${"a".repeat(50_000)}; the end`, 46_009],
  ])("counts the omitted characters of a long %s and prints its end", (field, text, left) => {
    const lines = shown("x", { [field]: text });
    const count = String(left).replace(/(...)$/, ",$1");
    expect(lines).toContain(`  … ${count} characters omitted; full text: rookery sessions events SESSION --json …`);
    expect(lines.at(-1)).toContain(text.slice(-10));
    expect(lines.join("").length).toBeLessThan(17_000);
  });

  it("counts the omitted characters if there are too many fields", () => {
    const input = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key${index}`, index]));
    const lines = shown("x", input);
    expect(lines[0]).toMatch(/^ {2}input/);
    expect(lines.join("\n")).toMatch(/characters omitted/);
    expect(lines.join("").length).toBeLessThan(17_000);
  });

  it("prints nested values with too many parts as JSON", () => {
    const changes = Array.from({ length: 30 }, (_, index) => ({ path: `${index}`, diff: "one\ntwo" }));
    expect(shown("apply_patch", { changes })).toEqual([`  changes: ${JSON.stringify(changes)}`]);
  });
});

describe("formatRequestDetails of an edit", () => {
  const diff = { path: "/w/a.txt", before: "one\n", after: "two\n" };
  const lines = ["  /w/a.txt +1 -1", "  1 - one", "  1 + two"];

  it("shows the diff instead of the input", () => {
    expect(shown("edit", { old_text: "one", new_text: "two" }, [diff], "edit /w/a.txt")).toEqual(lines);
  });

  it("shows a title that says more than the diff", () => {
    const title = "Edit /w/a.txt (and all other files in /w)\u001b[2J";
    const said = "  Edit /w/a.txt (and all other files in /w)<U+001B>[2J";
    expect(shown("apply_patch", {}, [diff], title)).toEqual([said, ...lines]);
  });

  it("shows the input too if the diff does not have the whole change", () => {
    const unknown = { path: "/w/a.txt", before: null, after: null, truncated: true };
    expect(shown("Write", { content: "x" }, [unknown], "Write /w/a.txt")).toEqual([
      "  /w/a.txt the change is too long or not known",
      "  content: x",
    ]);
  });

  it("folds a long diff and says where all of it is", () => {
    const long = { path: "/w/a.txt", before: null, after: "x\n".repeat(200) };
    const folded = shown("write", {}, [long], "write /w/a.txt");
    expect(folded).toHaveLength(41);
    expect(folded.at(-1)).toBe("  … 161 more lines; full text: rookery sessions events SESSION --json …");
  });
});
