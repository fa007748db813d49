/** Converts session events to ACP session updates. */
import type * as acp from "../../acp/schema.ts";
import type { EventOf, SessionEvent } from "../../domain/events.ts";
import type { SessionState } from "../../domain/state.ts";
import { toToolCall, toToolEnd, toToolProgress } from "./tools.ts";

/** The content of the running turn that the client has received. */
export interface ShownContent {
  /** Ids of messages that were sent as deltas. */
  readonly messages: Set<string>;
  /** Output so far of each tool call that the client knows, by tool id. */
  readonly tools: Map<string, string>;
}

export function emptyShownContent(): ShownContent {
  return { messages: new Set(), tools: new Map() };
}

/**
 * Returns the new shown content, which may be the same object, and the updates to send. `live` is false for history.
 * `state` is the session state after the event.
 */
export function toClientUpdates(
  shown: ShownContent,
  event: SessionEvent,
  { live, state }: { readonly live: boolean; readonly state: Pick<SessionState, "usage" | "cwd"> },
): readonly [ShownContent, readonly acp.SessionUpdate[]] {
  switch (event.type) {
    case "turn.started":
    case "turn.ended":
      return [emptyShownContent(), []];
    case "message.delta":
      shown.messages.add(event.messageId);
      return [shown, [toChunk("agent_message_chunk", event)]];
    case "message.completed":
      if (shown.messages.has(event.messageId) || event.text === "") return [shown, []];
      return [shown, [toChunk("agent_message_chunk", event)]];
    case "thought.delta":
      return [shown, [toChunk("agent_thought_chunk", event)]];
    case "permission.requested":
      if (shown.tools.has(event.toolId)) return [shown, []];
      return [addTool(shown, event.toolId), [toToolCall(event, "pending", state.cwd)]];
    case "tool.started": {
      const update = toToolStart(shown, event, state.cwd); // before `addTool` makes it known
      return [addTool(shown, event.toolId), [update]];
    }
    case "tool.updated": {
      const [said, update] = toToolProgress(shown.tools.get(event.toolId) ?? "", event, state.cwd);
      const silent = !live && event.title === undefined && event.locations === undefined; // the final update has the whole output
      return [addTool(shown, event.toolId, said), silent ? [] : [update]];
    }
    case "tool.ended":
      return [shown, [toToolEnd(event, state.cwd)]];
    case "plan.updated":
      return [shown, [toPlan(event)]];
    case "usage.reported":
      return [shown, toUsageUpdates(event, state)];
    case "notice":
      return [shown, live ? toNotices(event) : []];
    case "context.compacted": {
      const summary: acp.ContentBlock[] = [{ type: "text", text: event.summary }];
      const compactionId = `compaction-${event.seq}`;
      return [shown, [{ sessionUpdate: "compaction_update", compactionId, status: "completed", summary }]];
    }
    case "subagent.started":
    case "subagent.ended":
      return [shown, [toSubagentUpdate(event)]];
    case "output.text":
      if (event.from !== undefined) return [shown, []];
      return [shown, [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: event.text } }]];
    case "mcp.status":
      if (!live || event.status !== "failed") return [shown, []];
      return [shown, [toMcpFailureNotice(event)]];
    case "turn.parked":
      if (!live) return [shown, []];
      return [shown, toNotices({ level: "warning", message: `${event.message}; the turn resumes at ${event.until}` })];
    case "turn.continued":
      return [shown, live ? toNotices({ level: "info", message: event.message ?? "the turn has resumed" }) : []];
    case "limit.reached":
    case "session.opened":
    case "session.closed":
    case "agent.switched":
    case "input.queued":
    case "input.delivered":
    case "input.withdrawn":
    case "conversation.replaced":
    case "budget.set":
    case "budget.raised":
    case "permission.resolved":
    case "permission.revoked":
    case "turn.cancel_requested":
    case "question.asked":
    case "question.answered":
    case "process.started":
    case "process.exited":
    case "agent.connected":
    case "agent.defined":
    case "agent.raw":
    case "tool.chosen":
    case "plugin.saved":
      return [shown, []];
  }
}

function addTool(shown: ShownContent, toolId: string, said = ""): ShownContent {
  shown.tools.set(toolId, said);
  return shown;
}

function toToolStart(shown: ShownContent, event: EventOf<"tool.started">, cwd: string): acp.SessionUpdate {
  const call = toToolCall(event, "in_progress", cwd);
  return shown.tools.has(event.toolId) ? ({ ...call, sessionUpdate: "tool_call_update" } as acp.SessionUpdate) : call;
}

function toChunk(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  { messageId, text }: { readonly messageId: string; readonly text: string },
): acp.SessionUpdate {
  return { sessionUpdate, messageId, content: { type: "text", text } };
}

function toPlan({ entries }: EventOf<"plan.updated">): acp.SessionUpdate {
  return {
    sessionUpdate: "plan",
    entries: entries.map(({ priority = "medium", ...entry }) => ({ ...entry, priority })),
  };
}

/** Empty if the context size is unknown. The prompt response then reports the usage. */
function toUsageUpdates(
  event: EventOf<"usage.reported">,
  { usage: sum }: Pick<SessionState, "usage">,
): acp.SessionUpdate[] {
  const { contextSize: size, contextUsed } = event;
  if (size === undefined) return [];
  const used = contextUsed ?? event.inputTokens + event.outputTokens;
  const cost = sum.costUsd === undefined ? {} : { cost: { amount: sum.costUsd, currency: "USD" } };
  return [{ sessionUpdate: "usage_update", used, size, ...cost }];
}

function toNotices({ level, message }: Pick<EventOf<"notice">, "level" | "message">): acp.SessionUpdate[] {
  return message === "" ? [] : [{ sessionUpdate: "notice", severity: level, title: message }];
}

function toMcpFailureNotice({
  server,
  reason = "the server gave no reason",
}: EventOf<"mcp.status">): acp.SessionUpdate {
  return { sessionUpdate: "notice", severity: "warning", title: `MCP server ${server} failed`, description: reason };
}

function toSubagentUpdate(event: EventOf<"subagent.started"> | EventOf<"subagent.ended">): acp.SessionUpdate {
  const toolCallId = event.childSessionId;
  if (event.type === "subagent.started") {
    return { sessionUpdate: "tool_call", toolCallId, title: event.title, kind: "think", status: "in_progress" };
  }
  const status = event.outcome.status === "done" ? "completed" : "failed";
  return { sessionUpdate: "tool_call_update", toolCallId, status };
}
