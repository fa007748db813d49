/** The events that a transcript shows as notices. */
import { amountText } from "../../../../src/domain/budget.ts";
import { formatGrant } from "../../../../src/domain/command-prefix.ts";
import { formatConversationMessage } from "../../../../src/domain/conversation-text.ts";
import type { ConversationMessage, SessionEvent } from "../../../../src/domain/events.ts";
import type { NoticeItem } from "./items.ts";

type Notice = Pick<NoticeItem, "level" | "text">;

/** Returns undefined for events that are not shown, or that other items show. */
export function formatNotice(event: SessionEvent): Notice | undefined {
  switch (event.type) {
    case "notice":
      return { level: event.level, text: event.message };
    case "agent.switched":
      return { level: "info", text: `The agent is now ${event.to}.` };
    case "turn.parked":
      return { level: "warning", text: `${event.message}. The turn waits until ${formatTime(event.until)}.` };
    case "turn.continued":
      return { level: "info", text: event.message ?? "The turn continues." };
    case "context.compacted":
      return { level: "info", text: "The conversation was summarized to save context." };
    case "conversation.replaced":
      return { level: "info", text: formatConversation(event.messages) };
    case "budget.raised": {
      const { of, unit, to } = event;
      const limit = to === null ? `has no limit in ${unit}` : `may use ${amountText(unit, to)}`;
      return { level: "info", text: `Budget raised: the ${of} ${limit}.` };
    }
    case "permission.revoked":
      return { level: "info", text: `${formatGrant(event)} asks for permission again.` };
    case "mcp.status": {
      if (event.status === "connecting" || event.status === "ready") return undefined; // the normal case
      const { server, status, reason, fix } = event;
      const text = [`MCP server ${server}: ${status.replaceAll("_", " ")}`, reason, fix && `try: ${fix}`];
      return { level: "warning", text: text.filter((part) => part !== undefined && part !== "").join("; ") };
    }
    case "session.closed":
      return {
        level: "info",
        text: event.reason ? `The session was closed: ${event.reason}` : "The session was closed.",
      };
    case "session.opened":
    case "agent.connected":
    case "agent.defined": // session.opened and agent.switched report its use
    case "turn.started":
    case "turn.ended":
    case "turn.cancel_requested": // turn.ended reports it
    case "limit.reached": // turn.parked and turn.ended report it
    case "input.queued":
    case "input.delivered":
    case "input.withdrawn":
    case "message.delta":
    case "message.completed":
    case "thought.delta":
    case "tool.started":
    case "tool.updated":
    case "tool.ended":
    case "permission.requested":
    case "permission.resolved":
    case "question.asked":
    case "question.answered":
    case "plan.updated":
    case "usage.reported":
    case "tool.chosen":
    case "plugin.saved":
    case "process.started":
    case "process.exited":
    case "output.text":
    case "agent.raw":
    case "budget.set":
    case "subagent.started":
    case "subagent.ended":
      return undefined;
  }
}

function formatTime(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

const MAX_MESSAGES = 20;

/** Shows the last messages, because a conversation may have thousands. */
function formatConversation(messages: readonly ConversationMessage[]): string {
  if (messages.length === 0) return "The conversation was replaced. The agent continues without the messages above.";
  const lines = messages.flatMap(formatConversationMessage);
  const shown = lines.slice(-MAX_MESSAGES);
  const more = lines.length > shown.length ? [`… ${lines.length - shown.length} more`] : [];
  const count = messages.length === 1 ? "1 message" : `${messages.length} messages`;
  return [`The conversation continues from ${count}; the log keeps the rest:`, ...more, ...shown].join("\n");
}
