/** What a client is shown of a session: a fold over its events that gives the updates for each. */
import type * as acp from "../../acp/schema.ts";
import type { EventOf, SessionEvent } from "../../domain/events.ts";
import type { SessionState } from "../../domain/state.ts";
import { toolCall, toolEnd, toolProgress } from "./tools.ts";

/** What the client has been shown of the turn that runs. */
export interface Shown {
  /** Messages whose text was shown as it came. */
  readonly messages: Set<string>;
  /** Tool calls that it knows, and what each has said so far. */
  readonly tools: Map<string, string>;
}

export function nothingShown(): Shown {
  return { messages: new Set(), tools: new Map() };
}

/** Returns what was shown after the event, which may be the same object, and what to send. `live`: it happens now, and is not history. `state` is the session's after the event. */
export function show(
  shown: Shown,
  event: SessionEvent,
  { live, state }: { readonly live: boolean; readonly state: Pick<SessionState, "usage"> },
): readonly [Shown, readonly acp.SessionUpdate[]] {
  switch (event.type) {
    case "turn.started":
    case "turn.ended":
      return [nothingShown(), []];
    case "message.delta":
      shown.messages.add(event.messageId);
      return [shown, [chunk("agent_message_chunk", event)]];
    case "message.completed":
      if (shown.messages.has(event.messageId) || event.text === "") return [shown, []];
      return [shown, [chunk("agent_message_chunk", event)]];
    case "thought.delta":
      return [shown, [chunk("agent_thought_chunk", event)]];
    case "permission.requested":
      if (shown.tools.has(event.toolId)) return [shown, []];
      return [withTool(shown, event.toolId), [toolCall(event, "pending")]];
    case "tool.started": {
      const update = toolStart(shown, event); // before it is known
      return [withTool(shown, event.toolId), [update]];
    }
    case "tool.updated": {
      const [said, update] = toolProgress(shown.tools.get(event.toolId) ?? "", event);
      const silent = !live && event.title === undefined && event.locations === undefined; // its end says all of it
      return [withTool(shown, event.toolId, said), silent ? [] : [update]];
    }
    case "tool.ended":
      return [shown, [toolEnd(event)]];
    case "plan.updated":
      return [shown, [plan(event)]];
    case "usage.reported":
      return [shown, usage(event, state)];
    case "notice":
      return [shown, live ? notice(event) : []];
    case "context.compacted": {
      const summary: acp.ContentBlock[] = [{ type: "text", text: event.summary }];
      const compactionId = `compaction-${event.seq}`;
      return [shown, [{ sessionUpdate: "compaction_update", compactionId, status: "completed", summary }]];
    }
    case "subagent.started":
    case "subagent.ended":
      return [shown, [subagent(event)]];
    case "output.text":
      if (event.from !== undefined) return [shown, []];
      return [shown, [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: event.text } }]];
    case "mcp.status":
      if (!live || event.status !== "failed") return [shown, []];
      return [shown, [mcpFailure(event)]];
    case "turn.parked":
      if (!live) return [shown, []];
      return [shown, notice({ level: "warning", message: `${event.message}; the turn waits until ${event.until}` })];
    case "turn.continued":
      return [shown, live ? notice({ level: "info", message: event.message ?? "the turn goes on" }) : []];
    case "limit.reached":
    case "session.opened":
    case "session.closed":
    case "agent.switched":
    case "input.queued":
    case "input.delivered":
    case "conversation.replaced":
    case "budget.set":
    case "budget.raised":
    case "permission.resolved":
    case "question.asked":
    case "question.answered":
    case "process.started":
    case "process.exited":
    case "agent.connected":
    case "agent.raw":
    case "tool.chosen":
    case "plugin.saved":
      return [shown, []];
  }
}

function withTool(shown: Shown, toolId: string, said = ""): Shown {
  shown.tools.set(toolId, said);
  return shown;
}

function toolStart(shown: Shown, event: EventOf<"tool.started">): acp.SessionUpdate {
  const call = toolCall(event, "in_progress", event.locations);
  return shown.tools.has(event.toolId) ? ({ ...call, sessionUpdate: "tool_call_update" } as acp.SessionUpdate) : call;
}

function chunk(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  { messageId, text }: { readonly messageId: string; readonly text: string },
): acp.SessionUpdate {
  return { sessionUpdate, messageId, content: { type: "text", text } };
}

function plan({ entries }: EventOf<"plan.updated">): acp.SessionUpdate {
  return {
    sessionUpdate: "plan",
    entries: entries.map(({ priority = "medium", ...entry }) => ({ ...entry, priority })),
  };
}

/** Without the context's size there is no update for it; the turn's answer has the numbers then. */
function usage(event: EventOf<"usage.reported">, { usage: sum }: Pick<SessionState, "usage">): acp.SessionUpdate[] {
  const { contextSize: size, contextUsed } = event;
  if (size === undefined) return [];
  const used = contextUsed ?? event.inputTokens + event.outputTokens;
  const cost = sum.costUsd === undefined ? {} : { cost: { amount: sum.costUsd, currency: "USD" } };
  return [{ sessionUpdate: "usage_update", used, size, ...cost }];
}

function notice({ level, message }: Pick<EventOf<"notice">, "level" | "message">): acp.SessionUpdate[] {
  return message === "" ? [] : [{ sessionUpdate: "notice", severity: level, title: message }];
}

function mcpFailure({ server, reason = "no reason was given" }: EventOf<"mcp.status">): acp.SessionUpdate {
  return { sessionUpdate: "notice", severity: "warning", title: `MCP server ${server} failed`, description: reason };
}

function subagent(event: EventOf<"subagent.started"> | EventOf<"subagent.ended">): acp.SessionUpdate {
  const toolCallId = event.childSessionId;
  if (event.type === "subagent.started") {
    return { sessionUpdate: "tool_call", toolCallId, title: event.title, kind: "think", status: "in_progress" };
  }
  const status = event.outcome.status === "done" ? "completed" : "failed";
  return { sessionUpdate: "tool_call_update", toolCallId, status };
}
