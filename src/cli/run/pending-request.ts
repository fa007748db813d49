/** An open permission request or question, formatted completely, because its title may not show everything. */
import { z } from "zod";
import type { Question } from "../../domain/backend.ts";
import { suggestCommandPrefix } from "../../domain/command-prefix.ts";
import type { FileDiff, SessionEvent } from "../../domain/events.ts";
import type { SessionState } from "../../domain/state.ts";
import type { SessionStore } from "../../domain/store.ts";
import { foldLines, MAX_FOLDED_LINES } from "../diff/fold.ts";
import { formatDiffs, type DiffFormat } from "../diff/format-diff.ts";
import { formatCount } from "../format.ts";
import { plainPaint } from "../paint.ts";
import { relativeDiffs, relativeInput, shortenPaths } from "../relative-paths.ts";
import { toSingleLine, escapeInvisible } from "../sanitize.ts";
import { readSessionEvents } from "../sessions/read-events.ts";

export interface PendingRequest {
  readonly requestId: string;
  /** Undefined for a question. */
  readonly tool: string | undefined;
  readonly title?: string;
  readonly input: unknown;
  /** The prefix of the command that can always be allowed. Undefined if none is specific enough. */
  readonly prefix?: string | undefined;
  /** The changes that the call would make to files, if they are known. */
  readonly diffs?: readonly FileDiff[];
  /** The requester, if it is not the agent itself. */
  readonly from?: string | undefined;
  /** Undefined for a permission. */
  readonly question?: Question;
}

/** Maximum length before the middle is omitted. Commands are shown completely up to a readable length. */
const MAX_FIELD_LENGTH = { command: 16_000, other: 4_000 };
const MAX_TITLE_LENGTH = 500;
const FULL_TEXT_HINT = "full text: rookery sessions events SESSION --json …";
const MAX_FIELDS = 20;
const MAX_DEPTH = 4;

/** `folder`: the working directory of the session. Paths in it are shown relative to it. */
export function toPendingRequest(event: SessionEvent, folder?: string): PendingRequest | undefined {
  if (event.type === "permission.requested") {
    const { requestId, tool, title, input, diffs, from } = event;
    const prefix = suggestCommandPrefix(event);
    return {
      requestId,
      tool,
      title: shortenPaths(title, folder),
      input: relativeInput(input, folder),
      ...(prefix !== undefined && { prefix }),
      ...(diffs !== undefined && { diffs: relativeDiffs(diffs, folder) }),
      ...(from !== undefined && { from }),
    };
  }
  if (event.type !== "question.asked") return undefined;
  const { message, from, url, schema } = event;
  const question = { message, from, url, schema };
  const given = Object.entries(question).filter(([, value]) => value !== undefined);
  return { requestId: event.requestId, tool: undefined, input: Object.fromEntries(given), question };
}

/** Reads the open requests from the log, because the state only has their titles. */
export async function pendingSessionRequests(store: SessionStore, state: SessionState): Promise<PendingRequest[]> {
  const waiting = state.requests.filter(({ answer }) => answer === undefined);
  const open = new Set(waiting.map(({ requestId }) => requestId));
  const found: PendingRequest[] = [];
  if (open.size === 0) return found;
  const isOlder = waiting.some(({ turnId }) => turnId === undefined); // asked between turns, possibly before the current one
  for await (const event of readSessionEvents(store, state.id, isOlder ? 0 : (state.turn?.startedSeq ?? 0))) {
    const asked = toPendingRequest(event, state.cwd);
    if (asked !== undefined && open.has(asked.requestId)) found.push(asked);
  }
  return found;
}

/** Completes the phrase "waiting for …". */
export function formatRequestSubject({ tool, from }: PendingRequest): string {
  return tool === undefined ? "an answer" : `a decision on ${toSingleLine(tool, 100)}${formatRequester(from)}`;
}

export function formatRequester(from: string | undefined): string {
  return from === undefined ? "" : ` for ${toSingleLine(escapeInvisible(from), 100)}`;
}

/** How to show the details of a request. Default: without colors, wrapping and a hint. */
export interface RequestFormat extends Partial<DiffFormat> {
  /** How to see the lines of a long diff that are not shown. */
  readonly hint?: string | undefined;
  /** Lines of diffs that are shown. Default: 40. */
  readonly maxLines?: number | undefined;
}

/**
 * Shows the diffs of an edit, and the input of any other call. Each line starts with two spaces and contains no control
 * characters, so the input cannot imitate other output.
 */
export function formatRequestDetails(asked: PendingRequest, format: RequestFormat = {}): string[] {
  const { diffs = [], title = "" } = asked;
  if (diffs.length === 0) return formatRequestInput(asked);
  const { paint = plainPaint, columns, hint = FULL_TEXT_HINT, maxLines: max = MAX_FOLDED_LINES } = format;
  const lines = foldLines(formatDiffs(diffs, { paint, columns }), { hint, max });
  const isTitleKnown = diffs.some(({ path }) => title.endsWith(path)); // it says no more than the diff
  const isIncomplete = diffs.some(({ truncated }) => truncated === true);
  return [
    ...(isTitleKnown ? [] : [`  ${toSingleLine(escapeInvisible(title), MAX_TITLE_LENGTH)}`]),
    ...lines,
    ...(isIncomplete ? formatRequestInput(asked) : []),
  ];
}

function formatRequestInput({ input = null }: PendingRequest): string[] {
  const isTable = typeof input === "object" && input !== null && !Array.isArray(input);
  const fields: Field[] = isTable ? Object.entries(input) : [["input", input]];
  if (fields.length > MAX_FIELDS) return formatInputField("input", input);
  const parts = fields.flatMap((field) => splitField(field, MAX_DEPTH));
  return (parts.length > MAX_FIELDS ? fields : parts).flatMap(([name, value]) => formatInputField(name, value));
}

type Field = readonly [name: string, value: unknown];

/** Nested values are shown as JSON, unless they contain multi-line text such as a diff. */
function splitField([name, value]: Field, depth: number): Field[] {
  const hasLines = typeof value === "object" && value !== null && JSON.stringify(value).includes("\\n");
  if (!hasLines || depth === 0) return [[name, value]];
  return Object.entries(value).flatMap(([key, inner]) => splitField([`${name}.${key}`, inner], depth - 1));
}

function formatInputField(name: string, value: unknown): string[] {
  const text = typeof value === "string" ? value : (readTextBlocks(value) ?? JSON.stringify(value));
  const label = toSingleLine(escapeInvisible(name), 100);
  const most = name === "command" ? MAX_FIELD_LENGTH.command : MAX_FIELD_LENGTH.other;
  const lines = text.split("\n");
  if (lines.length === 1 && text.length <= most) return [`  ${label}: ${escapeInvisible(text)}`];
  const heading = `  ${label} (${formatCount(lines.length)} ${lines.length === 1 ? "line" : "lines"}):`;
  if (text.length <= most) return [heading, ...quoteLines(text)];
  const left = `  … ${formatCount(text.length - most)} characters omitted; ${FULL_TEXT_HINT}`;
  return [heading, ...quoteLines(text.slice(0, most / 2)), left, ...quoteLines(text.slice(-most / 2))];
}

/**
 * The text of a list of ACP content blocks. Undefined for any other value, including blocks that contain more than
 * text.
 */
function readTextBlocks(value: unknown): string | undefined {
  const blocks = z.array(TextBlock).min(1).safeParse(value);
  return blocks.success ? blocks.data.map(({ content }) => content.text).join("\n") : undefined;
}

const TextBlock = z.strictObject({
  type: z.literal("content"),
  content: z.strictObject({ type: z.literal("text"), text: z.string() }),
});

function quoteLines(text: string): string[] {
  return text.split("\n").map((line) => `  │ ${escapeInvisible(line)}`);
}
