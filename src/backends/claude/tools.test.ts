import { expect, it } from "vitest";
import { toEditChanges, toProposedDiffs } from "./diffs.ts";
import { toClaudeToolStart } from "./tools.ts";

it.each([
  [
    "Read",
    { file_path: "/project/a.ts", offset: 7 },
    "read",
    "Read /project/a.ts",
    [{ path: "/project/a.ts", line: 7 }],
  ],
  ["Grep", { pattern: "x+", path: "/project" }, "search", "Grep x+", []],
  ["Glob", { pattern: "**/*.ts" }, "search", "Glob **/*.ts", []],
  ["LS", { path: "/project" }, "search", "LS /project", []],
  ["Edit", { file_path: "/project/a.ts" }, "edit", "Edit /project/a.ts", [{ path: "/project/a.ts" }]],
  ["MultiEdit", { file_path: "/project/a.ts" }, "edit", "MultiEdit /project/a.ts", [{ path: "/project/a.ts" }]],
  ["Write", { file_path: "/project/b.ts" }, "edit", "Write /project/b.ts", [{ path: "/project/b.ts" }]],
  [
    "NotebookEdit",
    { notebook_path: "/project/n.ipynb" },
    "edit",
    "NotebookEdit /project/n.ipynb",
    [{ path: "/project/n.ipynb" }],
  ],
  ["Bash", { command: "npm test", description: "Tests" }, "execute", "npm test", []],
  ["WebFetch", { url: "http://127.0.0.1/" }, "fetch", "WebFetch http://127.0.0.1/", []],
  ["WebSearch", { query: "birds" }, "fetch", "WebSearch birds", []],
  ["Agent", { description: "Looks around" }, "think", "Looks around", []],
  ["AskUserQuestion", { questions: [] }, "ask", "AskUserQuestion", []],
  ["mcp__rookery__note", { path: "/project" }, "other", "mcp__rookery__note", []],
  ["Bash", { command: 7 }, "execute", "Bash", []],
])("shows %s %j as %s: %s", (name, input, kind, title, locations) => {
  expect(toClaudeToolStart("t1", name, input)).toEqual({ id: "t1", name, input, kind, title, locations });
});

const path = "/project/a.txt";
const patch = [{ newStart: 3 }];

it.each([
  [
    "a new file",
    "Write",
    { file_path: path, content: "x" },
    { type: "create", filePath: path, content: "x", originalFile: null, structuredPatch: [] },
    [{ path, before: null, after: "x" }],
  ],
  [
    "an overwritten file",
    "Write",
    { file_path: path, content: "y" },
    { type: "update", filePath: path, content: "y", originalFile: "x", structuredPatch: patch },
    [{ path, before: "x", after: "y" }],
  ],
  [
    "one replacement with a special replacement pattern",
    "Edit",
    {},
    { filePath: path, oldString: "a", newString: "$&", originalFile: "a a", structuredPatch: patch },
    [{ path, before: "a a", after: "$& a" }],
  ],
  [
    "all replacements",
    "Edit",
    {},
    { filePath: path, oldString: "a", newString: "b", originalFile: "a a", replaceAll: true },
    [{ path, before: "a a", after: "b b" }],
  ],
  [
    "several edits in sequence",
    "MultiEdit",
    {
      file_path: path,
      edits: [
        { old_string: "a", new_string: "b" },
        { old_string: "b", new_string: "c" },
      ],
    },
    { filePath: path, originalFile: "a" },
    [{ path, before: "a", after: "c" }],
  ],
  [
    "an edit of a sub-agent without its file",
    "Edit",
    { file_path: path, old_string: "a", new_string: "b" },
    undefined,
    [{ path, before: "a", after: "b", truncated: true }],
  ],
  [
    "a file that a sub-agent overwrote",
    "Write",
    { file_path: path, content: "y" },
    undefined,
    [{ path, before: null, after: "y", truncated: true }],
  ],
  [
    "a notebook",
    "NotebookEdit",
    {},
    { notebook_path: path, original_file: "{}", updated_file: "{1}" },
    [{ path, before: "{}", after: "{1}" }],
  ],
  ["unreadable input", "Edit", { file_path: 7 }, { originalFile: [] }, []],
  ["a tool that does not edit", "Read", { file_path: path }, { filePath: path, originalFile: "x", content: "y" }, []],
])("computes the diff of %s", (_, name, input, result, diffs) => {
  expect(toEditChanges(name, input, result, "The file has been updated.").diffs).toEqual(diffs);
});

it("finds the first line of an edit, and detects a new file from the result text", () => {
  const edit = { filePath: path, oldString: "a", newString: "b", originalFile: "a", structuredPatch: patch };
  expect(toEditChanges("Edit", {}, edit, "").locations).toEqual([{ path, line: 3 }]);
  expect(
    toEditChanges("Write", { file_path: path, content: "x" }, undefined, "File created successfully").diffs,
  ).toEqual([{ path, before: null, after: "x" }]);
});

it.each<[string, string, object, string | null | undefined, object[]]>([
  [
    "an edit, in its file",
    "Edit",
    { old_string: "b", new_string: "B" },
    "a\nb\nc\n",
    [{ path, before: "a\nb\nc\n", after: "a\nB\nc\n" }],
  ],
  [
    "several edits",
    "MultiEdit",
    {
      edits: [
        { old_string: "a", new_string: "A" },
        { old_string: "c", new_string: "C" },
      ],
    },
    "a\nb\nc\n",
    [{ path, before: "a\nb\nc\n", after: "A\nb\nC\n" }],
  ],
  ["a new file", "Write", { content: "x\n" }, null, [{ path, before: null, after: "x\n" }]],
  ["a file that is replaced", "Write", { content: "x\n" }, "a\n", [{ path, before: "a\n", after: "x\n" }]],
  [
    "a binary file that is replaced",
    "Write",
    { content: "x" },
    undefined,
    [{ path, before: null, after: "x", truncated: true }],
  ],
  [
    "a file that an edit creates",
    "Edit",
    { old_string: "", new_string: "x" },
    null,
    [{ path, before: null, after: "x" }],
  ],
  [
    "text that the file does not have",
    "Edit",
    { old_string: "z", new_string: "Z" },
    "a\n",
    [{ path, before: "z", after: "Z", truncated: true }],
  ],
  ["a tool that does not edit", "Read", {}, "a\n", []],
])("proposes the diff of %s", (_, name, input, file, diffs) => {
  expect(toProposedDiffs(name, { file_path: path, ...input }, () => file)).toEqual(diffs);
});
