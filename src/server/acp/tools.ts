/** Converts tool events to ACP tool call updates. */
import type * as acp from "../../acp/schema.ts";
import type { EventOf, FileDiff, Location, ToolKind, ToolOutcome } from "../../domain/events.ts";

/** Characters of output shown while a tool runs, counted from the end. The final update has the whole output. */
const PROGRESS_LENGTH = 16_384;

export function toToolCall(
  { toolId, title, kind, input, name, tool }: ToolCallEvent,
  status: acp.ToolCallStatus,
  locations?: readonly Location[],
): acp.SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    toolCallId: toolId,
    title: title === "" ? (name ?? tool ?? toolId) : title,
    name: name ?? tool ?? null,
    kind: toAcpToolKind(kind),
    status,
    rawInput: input,
    ...toLocations(locations),
  };
}

type ToolCallEvent = Pick<EventOf<"tool.started">, "toolId" | "title" | "kind" | "input"> & {
  name?: string;
  tool?: string;
};

/** `shown` is the output so far. Returns the new output and the update. */
export function toToolProgress(shown: string, event: EventOf<"tool.updated">): [string, acp.SessionUpdate] {
  const { toolId, text, title, locations } = event;
  const output = text === undefined ? shown : (shown + text).slice(-PROGRESS_LENGTH).toWellFormed();
  const update: acp.SessionUpdate = {
    sessionUpdate: "tool_call_update",
    toolCallId: toolId,
    ...(title !== undefined && { title }),
    ...(text !== undefined && { content: [toToolTextContent(output)] }),
    ...toLocations(locations),
  };
  return [output, update];
}

export function toToolEnd({ toolId, outcome, text, locations, diffs = [] }: EventOf<"tool.ended">): acp.SessionUpdate {
  const output = text === "" ? [] : [toToolTextContent(text)];
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: toolId,
    status: outcome === "ok" ? "completed" : "failed",
    content: [...diffs.map(toDiffContent), ...output],
    ...toLocations(locations),
    ...(ACP_OUTCOMES.includes(outcome) ? {} : { _meta: { rookery: { outcome } } }),
  };
}

/** The complete input of a tool call, for the user to review. */
export function toInputContent(input: unknown): acp.ToolCallContent[] {
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

function toDiffContent({ path, before, after, truncated }: FileDiff): acp.ToolCallContent {
  if (truncated === true) return toToolTextContent(`${path} was changed; the diff is too long to show`);
  return { type: "diff", path, oldText: before, newText: after ?? "" };
}

function toLocations(locations: readonly Location[] | undefined): { locations?: acp.ToolCallLocation[] } {
  if (locations === undefined) return {};
  return { locations: locations.map(({ path, line }) => ({ path, ...(line !== undefined && { line }) })) };
}

/** Uses a fence longer than any fence in the text. */
function formatFenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
