/**
 * Converts tool events to ACP tool call updates. The paths of the protocol are absolute, those of events need not be.
 */
import { resolve } from "node:path";
import type * as acp from "../../acp/schema.ts";
import type { EventOf, FileDiff, Location, ToolKind, ToolOutcome } from "../../domain/events.ts";

/**
 * Maximum length of the output shown while a tool runs, in characters. Keeps the end; the final update has the whole
 * output.
 */
const PROGRESS_LENGTH = 16_384;

/** `cwd` is the working directory of the session, for relative paths. */
export function toToolCall(
  { toolId, title, kind, input, name, tool, locations, diffs = [] }: ToolCallEvent,
  status: acp.ToolCallStatus,
  cwd: string,
): acp.SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    toolCallId: toolId,
    title: title === "" ? (name ?? tool ?? toolId) : title,
    name: name ?? tool ?? null,
    kind: toAcpToolKind(kind),
    status,
    rawInput: input,
    ...(diffs.length > 0 && { content: toDiffContents(diffs, cwd) }),
    ...toLocations(locations ?? toDiffLocations(diffs), cwd),
  };
}

type ToolCallEvent = Pick<EventOf<"tool.started">, "toolId" | "title" | "kind" | "input"> & {
  name?: string;
  tool?: string;
  locations?: readonly Location[] | undefined;
  diffs?: readonly FileDiff[] | undefined;
};

/** `shown` is the output so far. Returns the new output and the update. */
export function toToolProgress(
  shown: string,
  event: EventOf<"tool.updated">,
  cwd: string,
): [string, acp.SessionUpdate] {
  const { toolId, text, title, locations } = event;
  const output = text === undefined ? shown : (shown + text).slice(-PROGRESS_LENGTH).toWellFormed();
  const update: acp.SessionUpdate = {
    sessionUpdate: "tool_call_update",
    toolCallId: toolId,
    ...(title !== undefined && { title }),
    ...(text !== undefined && { content: [toToolTextContent(output)] }),
    ...toLocations(locations, cwd),
  };
  return [output, update];
}

export function toToolEnd(
  { toolId, outcome, text, locations, diffs = [] }: EventOf<"tool.ended">,
  cwd: string,
): acp.SessionUpdate {
  const output = text === "" ? [] : [toToolTextContent(text)];
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: toolId,
    status: outcome === "ok" ? "completed" : "failed",
    content: [...toDiffContents(diffs, cwd), ...output],
    ...toLocations(locations, cwd),
    ...(ACP_OUTCOMES.includes(outcome) ? {} : { _meta: { rookery: { outcome } } }),
  };
}

/** What a permission request is about, for the user to review: the diffs of an edit, or the complete input. */
export function toReviewContent(
  { input, diffs = [] }: Pick<EventOf<"permission.requested">, "input" | "diffs">,
  cwd: string,
): acp.ToolCallContent[] {
  const isComplete = diffs.length > 0 && diffs.every(({ truncated }) => truncated !== true);
  return [...toDiffContents(diffs, cwd), ...(isComplete ? [] : toInputContent(input))];
}

export function toDiffLocations(diffs: readonly FileDiff[]): Location[] | undefined {
  return diffs.length === 0
    ? undefined
    : diffs.map(({ path, line }) => ({ path, ...(line !== undefined && { line }) }));
}

function toInputContent(input: unknown): acp.ToolCallContent[] {
  const isTable = typeof input === "object" && input !== null && !Array.isArray(input);
  const fields: [string, unknown][] = isTable ? Object.entries(input) : [["input", input ?? null]];
  return fields.map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
    return toToolTextContent(`${name}:\n${formatFenced(text)}`);
  });
}

export function toAcpToolKind(kind: ToolKind): acp.ToolKind {
  return kind === "ask" ? "other" : kind;
}

export function toToolTextContent(text: string): acp.ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** Outcomes that the protocol can express with a status. */
const ACP_OUTCOMES: readonly ToolOutcome[] = ["ok", "failed"];

function toDiffContents(diffs: readonly FileDiff[], cwd: string): acp.ToolCallContent[] {
  return diffs.map(({ path, before, after, truncated }) => {
    if (truncated === true) return toToolTextContent(`${path}: the diff is too long to show`);
    return { type: "diff", path: resolve(cwd, path), oldText: before, newText: after ?? "" };
  });
}

export function toLocations(
  locations: readonly Location[] | undefined,
  cwd: string,
): { locations?: acp.ToolCallLocation[] } {
  if (locations === undefined) return {};
  return {
    locations: locations.map(({ path, line }) => ({ path: resolve(cwd, path), ...(line !== undefined && { line }) })),
  };
}

/** Uses a fence longer than any fence in the text. */
function formatFenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
