/** Worst cases for functions that read, match, compare or format untrusted text. */
import { SetupQueue } from "../../src/acp/client/routing/setup-queue.ts";
import { SessionLanes } from "../../src/acp/proxy/session-lanes.ts";
import { readConversation } from "../../src/agent/conversation.ts";
import { describeMismatch } from "../../src/agent/tools/files/mismatch.ts";
import { formatUnifiedDiff } from "../../src/agent/tools/files/unified-diff.ts";
import { htmlToText } from "../../src/agent/tools/web/html-to-text.ts";
import { filterPaths, createPathMatcher } from "../../src/agent/tools/search/glob-pattern.ts";
import { detectAccountProblem } from "../../src/backends/acp/account-problem.ts";
import { toEditChanges } from "../../src/backends/claude/diffs.ts";
import { revertHunks } from "../../src/backends/codex/file-changes.ts";
import { toCodexLimit } from "../../src/backends/codex/limits.ts";
import { toClaudeLimit, mentionsLimit } from "../../src/backends/claude/limits.ts";
import { findOfferedTool } from "../../src/backends/offered-tools.ts";
import { formatDiff } from "../../src/cli/diff/format-diff.ts";
import { plainPaint } from "../../src/cli/paint.ts";
import { formatTail } from "../../src/cli/transcript/output-tail.ts";
import type { SessionEvent, ToolContext } from "../../src/domain/index.ts";
import { isCredential } from "../../src/domain/credentials.ts";
import { containsSecret, maskText } from "../../src/domain/mask-secrets.ts";
import { expandVariables } from "../../src/mcp/config/variables.ts";
import { readRecords, type RecordSink } from "../../src/programs/records.ts";
import { sanitizeTerminalText } from "../../src/programs/stderr-tail.ts";
import { ReplyBuilder } from "../../src/providers/reply.ts";
import { stripVersionSuffix } from "../../src/providers/sizes.ts";
import { deferred, indexOfText, splitText, trimEndOf } from "../../src/stdx/index.ts";
import { readResultSource } from "../../src/tools/read-result.ts";
import { toBranchConflict, findLockFile } from "../../src/worktrees/failure.ts";
import { growthCase, type GrowthCase } from "./growth.ts";

const NOW = new Date("2026-11-17T12:00:00Z");

/** Repeats `unit` up to about `size` characters. */
function fill(unit: string, size: number): string {
  return unit.repeat(Math.ceil(size / unit.length));
}

export const AGENT_CASES: readonly GrowthCase[] = [
  ...["KEY", "KEY=", 'KEY="', "a=", "sk-"].map((unit) =>
    growthCase(`configuration that has ${JSON.stringify(unit)}`, (size) => `${fill(unit, size)} x`, maskText),
  ),
  ...(process.env["ROOKERY_LINEAR"] === "full" // at 4 MB, the queue cases wait for millions of promises
    ? []
    : [
        ...["MAX_A_", "KEY", "_"].map((unit) =>
          growthCase(
            `the name of a variable of ${JSON.stringify(unit)}`,
            (size) => `${fill(unit, size)}X`,
            (name) => isCredential(name),
          ),
        ),
        ...["a-", "token", "bearer ", "a://", "https://a?b="].map((unit) =>
          growthCase(
            `the definition of an agent with ${JSON.stringify(unit)}`,
            (size) => fill(unit, size),
            containsSecret,
          ),
        ),
        growthCase(
          "messages of a session that wait in a proxy",
          (size) => size,
          async (count) => {
            const lanes = new SessionLanes();
            const first = deferred();
            void lanes.run("a", 0, () => first.promise);
            for (let passed = 0; passed < count; passed += 1) void lanes.run("a", 1, () => undefined);
            first.resolve();
            await new Promise((resolve) => void lanes.run(undefined, 0, () => resolve(undefined)));
          },
        ),
        growthCase(
          "setups of sessions that wait for one another",
          (size) => size / 2,
          async (count) => {
            const setups = new SetupQueue();
            let end = (): void => undefined;
            setups.enter(["first"], (leave) => (end = leave));
            let last: Promise<void> = Promise.resolve();
            for (let waiting = 0; waiting < count; waiting += 1) {
              last = new Promise((resolve) => {
                setups.enter([waiting % 2], (leave) => {
                  resolve();
                  queueMicrotask(leave);
                });
              });
            }
            end();
            await last;
          },
        ),
      ]),
  ...[" ", "\t", "\r", "a "].map((unit) =>
    growthCase(
      `a changed line of ${JSON.stringify(unit)} on a terminal`,
      (size) => `${fill(unit, size)}x\n`,
      (after) => formatDiff({ path: "a", before: "", after }, { paint: plainPaint }),
    ),
  ),
  ...["\r", "\u001b[", "\u001b]", " "].map((unit) =>
    growthCase(
      `output of ${JSON.stringify(unit)}`,
      (size) => `${fill(unit, size)}x`,
      (tail) => formatTail(tail, 80),
    ),
  ),
  ...[
    " ",
    "<head>",
    "<svg><",
    "<",
    "<!--",
    "<a href=",
    "<p> ",
    "&",
    "&#",
    "<pre>\t",
    "\n ",
    "<li><a href='x'>",
    "</a>",
  ].map((unit) =>
    growthCase(
      `a page of ${JSON.stringify(unit)}`,
      (size) => `x${fill(unit, size)}x`,
      (html) => htmlToText(html, "https://example.test/"),
    ),
  ),
  ...[" ", "\t\r", "a ", "}\n", " \n", "1", "``", "\u2018"].map((unit) =>
    growthCase(
      `an edit without a match in a file of ${JSON.stringify(unit)}`,
      (size) => [`x${fill(unit, size)}x`, `y${fill(unit, size / 2)}y`] as const,
      ([text, wanted]) => describeMismatch(text, wanted, "file"),
    ),
  ),
  growthCase(
    "a long text that almost occurs in a repetitive file",
    (size) => [fill("a", size), `${fill("a", size / 4)}b${fill("a", size / 4)}`] as const,
    ([text, wanted]) => [indexOfText(text, wanted), splitText(text, wanted).length],
  ),
  growthCase(
    "a diff of two files",
    (size) => [`x\n${fill("a\n", size)}b\n`.repeat(2), `y\n${fill("a\n", size)}c\n`.repeat(2)] as const,
    ([before, after]) => formatUnifiedDiff(before, after),
  ),
  growthCase(
    "a diff of two files with nothing in common",
    (size) => [fill("a\nb\n", size), fill("c\nd\ne\n", size)] as const,
    ([before, after]) => formatUnifiedDiff(before, after),
  ),
  growthCase(
    "a diff with many moved lines",
    (size) => [distinct(500) + fill("a\n", size), fill("a\n", size) + distinct(500)] as const,
    ([before, after]) => formatUnifiedDiff(before, after),
  ),
  ...[
    "spend",
    "retry 1",
    "1",
    "quota ",
    "resets in 1s ",
    "retry after 1 s, and ",
    "limit reached|",
    "2026-11-17T12:00:00.1",
  ].map((unit) =>
    growthCase(
      `an ACP agent's error message with ${JSON.stringify(unit)}`,
      (size) => fill(unit, size),
      (words) => [detectAccountProblem(words, NOW.getTime()), detectAccountProblem(words, NOW.getTime(), 429)],
    ),
  ),
  growthCase(
    "an ACP agent's error message with one long number",
    (size) => `rate limit: retry after ${fill("1", size)} x`,
    (words) => detectAccountProblem(words, NOW.getTime()),
  ),
  ...["1", "try again in 1", "try again in 1 day, and ", "try again at "].map((unit) =>
    growthCase(
      `a Codex limit message with ${JSON.stringify(unit)}`,
      (size) => `try again in 1 d ${fill(unit, size)}`,
      (words) => toCodexLimit(words, undefined, NOW),
    ),
  ),
  ...["hit your a ", "usage ", "|1", "resets ", "resets Nov ", "2026-11-17 "].map((unit) =>
    growthCase(
      `a Claude Code limit message with ${JSON.stringify(unit)}`,
      (size) => fill(unit, size),
      (words) => [mentionsLimit(words), toClaudeLimit(words, undefined, NOW.getTime())],
    ),
  ),
  growthCase(
    "many Claude Code edits of one file",
    (size) =>
      [
        fill("a", size),
        Array.from({ length: size / 64 }, () => ({ old_string: "a", new_string: "aa", replace_all: true })),
      ] as const,
    ([originalFile, edits]) => toEditChanges("MultiEdit", { file_path: "f", edits }, { originalFile }, ""),
  ),
  growthCase(
    "a Claude Code edit of a repetitive file",
    (size) => [fill("a", size), `${fill("a", size / 4)}b${fill("a", size / 4)}`] as const,
    ([originalFile, old_string]) =>
      toEditChanges("Edit", { file_path: "f", old_string, new_string: "x" }, { originalFile }, ""),
  ),
  growthCase(
    "a Codex patch with one hunk per line",
    (size) => [fill("b\n", size / 8), hunks(size / 16)] as const,
    ([after, diff]) => revertHunks(after, diff),
  ),
  growthCase("escape sequences", (size) => fill("\u001b[1;1;a\u001b];a", size), sanitizeTerminalText),
  growthCase(
    "lines that start like JSON",
    (size) => fill('{"a":{ ', size),
    (line) => readRecords(NO_RECORDS).line(line),
  ),
  growthCase(
    "a reply whose calls share one id",
    (size) => Array.from({ length: size / 16 }, () => CALL),
    (parts) => {
      const reply = new ReplyBuilder([]);
      for (const part of parts) reply.add(part);
    },
  ),
  growthCase(
    "a conversation with many calls in one message",
    (size) => conversation(size / 64),
    (events) => readConversation({ turnId: "t2", model: "m" }, events()),
  ),
  growthCase(
    "paths matched against a pattern with many wildcards",
    (size) => Array.from({ length: size / 256 }, () => "a".repeat(255)),
    (paths) =>
      filterPaths(paths, createPathMatcher(`{${"a,".repeat(99)}a}${"*a".repeat(25)}b`), new AbortController().signal),
  ),
  growthCase(
    "a search in a stored result",
    (size) => fill("a", size),
    async (text) => {
      const context = { getBlob: () => Promise.resolve(Buffer.from(text)) } as unknown as ToolContext;
      const input = { handle: "h", pattern: `${"a".repeat(400)}b${"a".repeat(400)}` };
      return readResultSource().call({ toolId: "1", name: "read_result", input }, context);
    },
  ),
  growthCase(
    "the name of a reported tool",
    (size) => `mcp__rookery_${fill("_", size)}!`,
    (name) => findOfferedTool({ name, title: name, kind: "other", input: {} }, new Set()),
  ),
  growthCase(
    "unterminated variables",
    (size) => fill("${A:-", size),
    (text) => expandVariables(text, { A: "a" }),
  ),
  growthCase("the name of a model", (size) => fill("-preview", size) + "x", stripVersionSuffix),
  growthCase(
    "trailing slashes",
    (size) => `${fill("/", size)}x`,
    (text) => trimEndOf(text, "/"),
  ),
  ...["Unable to create '", "could not lock config file ", "cannot lock ref '': '", "a branch named '"].map((unit) =>
    growthCase(
      `a git error message with ${JSON.stringify(unit)}`,
      (size) => fill(unit, size),
      (stderr) => [findLockFile(stderr), toBranchConflict(stderr, "main")],
    ),
  ),
];

const NO_RECORDS: RecordSink = {
  record: () => undefined,
  text: () => undefined,
  dropped: () => undefined,
  ended: () => undefined,
};
const CALL = { type: "tool-call", toolCallId: "a", toolName: "t", input: "{}" } as const;

function hunks(count: number): string {
  return Array.from({ length: count }, (_, at) => `@@ -${at + 1} +${at + 1} @@\n-a\n+b\n`).join("");
}

function conversation(calls: number): () => AsyncIterable<SessionEvent> {
  const ids = Array.from({ length: calls }, (_, at) => `c${at}`);
  const bodies = [
    { type: "turn.started", input: [{ type: "text", text: "go" }], turnId: "t1" },
    { type: "message.completed", text: "", toolCalls: ids.map((toolId) => ({ toolId, name: "t", input: {} })) },
    ...ids.flatMap((toolId) => [
      { type: "tool.started", toolId, name: "t", title: "t" },
      { type: "tool.ended", toolId, outcome: "ok", text: "" },
    ]),
    { type: "turn.started", input: [], turnId: "t2" },
  ];
  return async function* () {
    yield* bodies as unknown as SessionEvent[];
  };
}

function distinct(count: number): string {
  return Array.from({ length: count }, (_, at) => `line ${at}\n`).join("");
}
