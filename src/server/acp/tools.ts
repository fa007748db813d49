/** Tool calls as a client shows them. */
import type * as acp from "../../acp/schema.ts";
import type { EventOf, FileDiff, Location, ToolKind, ToolOutcome } from "../../domain/events.ts";

/** Of a tool's output while it runs the end is shown; all of it comes when it has ended. */
const PROGRESS_LENGTH = 16_384;

export function toolCall(
  { toolId, title, kind, input, name, tool }: Called,
  status: acp.ToolCallStatus,
  locations?: readonly Location[],
): acp.SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    toolCallId: toolId,
    title: title === "" ? (name ?? tool ?? toolId) : title,
    name: name ?? tool ?? null,
    kind: kindOf(kind),
    status,
    rawInput: input,
    ...locationsOf(locations),
  };
}

type Called = Pick<EventOf<"tool.started">, "toolId" | "title" | "kind" | "input"> & { name?: string; tool?: string };

/** `shown` is what the tool has said before; answers with what it has said by now. */
export function toolProgress(shown: string, event: EventOf<"tool.updated">): [string, acp.SessionUpdate] {
  const { toolId, text, title, locations } = event;
  const said = text === undefined ? shown : (shown + text).slice(-PROGRESS_LENGTH).toWellFormed();
  const update: acp.SessionUpdate = {
    sessionUpdate: "tool_call_update",
    toolCallId: toolId,
    ...(title !== undefined && { title }),
    ...(text !== undefined && { content: [textContent(said)] }),
    ...locationsOf(locations),
  };
  return [said, update];
}

export function toolEnd({ toolId, outcome, text, locations, diffs = [] }: EventOf<"tool.ended">): acp.SessionUpdate {
  const said = text === "" ? [] : [textContent(text)];
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: toolId,
    status: outcome === "ok" ? "completed" : "failed",
    content: [...diffs.map(diffContent), ...said],
    ...locationsOf(locations),
    ...(PLAIN.includes(outcome) ? {} : { _meta: { rookery: { outcome } } }),
  };
}

/** Everything that was asked for, whatever the title says of it. */
export function inputContent(input: unknown): acp.ToolCallContent[] {
  const isTable = typeof input === "object" && input !== null && !Array.isArray(input);
  const fields: [string, unknown][] = isTable ? Object.entries(input) : [["input", input ?? null]];
  return fields.map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
    return textContent(`${name}:\n${fenced(text)}`);
  });
}

export function kindOf(kind: ToolKind): acp.ToolKind {
  return kind === "ask" ? "other" : kind;
}

export function textContent(text: string): acp.ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** What the protocol has words for. */
const PLAIN: readonly ToolOutcome[] = ["ok", "failed"];

function diffContent({ path, before, after, truncated }: FileDiff): acp.ToolCallContent {
  if (truncated === true) return textContent(`${path} was changed; the change is too long to be shown`);
  return { type: "diff", path, oldText: before, newText: after ?? "" };
}

function locationsOf(locations: readonly Location[] | undefined): { locations?: acp.ToolCallLocation[] } {
  if (locations === undefined) return {};
  return { locations: locations.map(({ path, line }) => ({ path, ...(line !== undefined && { line }) })) };
}

/** With a fence that is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
