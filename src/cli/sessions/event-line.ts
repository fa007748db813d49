/** Formats an event of a session as one line. */
import { budgetText } from "../../domain/budget.ts";
import { formatGrant } from "../../domain/command-prefix.ts";
import { shortId } from "../../domain/ids.ts";
import { type EventBody, type SessionEvent, formatInput, type TurnOutcome } from "../../domain/events.ts";
import { formatLocalTime, formatUsd } from "../format.ts";
import { toSingleLine } from "../sanitize.ts";

const MAX_DETAIL_LENGTH = 160;

export function formatEventLine(event: SessionEvent): string {
  return formatLine(event, formatEventDetail(event));
}

export function formatLine({ seq, at, type }: { seq: number; at: string; type: string }, detail: string): string {
  const head = `${String(seq).padStart(5)}  ${formatLocalTime(at)}  ${type.padEnd(20)}`;
  return `${head} ${toSingleLine(detail, MAX_DETAIL_LENGTH)}`.trimEnd();
}

function formatEventDetail(event: EventBody): string {
  switch (event.type) {
    case "session.opened":
      return `${event.cwd} · ${event.model ?? event.backend} · permissions ${event.permissions}`;
    case "session.closed":
      return event.reason ?? "";
    case "agent.switched":
      return `${event.from} → ${event.to}`;
    case "agent.defined":
      return event.definition.name;
    case "turn.started":
    case "input.queued":
    case "input.delivered":
      return formatInput(event.input);
    case "input.withdrawn":
      return event.inputId;
    case "permission.revoked":
      return formatGrant(event);
    case "turn.cancel_requested":
      return event.reason ?? "";
    case "turn.ended":
      return outcomeText(event.outcome);
    case "turn.parked":
      return `until ${formatLocalTime(event.until)}: ${event.message}`;
    case "turn.continued":
      return event.message ?? "";
    case "limit.reached":
      return `${event.message}${event.resetsAt === undefined ? "" : ` (until ${formatLocalTime(event.resetsAt)})`}`;
    case "message.delta":
    case "message.completed":
    case "thought.delta":
      return event.text;
    case "output.text":
      return event.from === undefined ? event.text : `${event.from}: ${event.text}`;
    case "tool.started":
      return `${event.toolId} ${event.title}`;
    case "tool.updated":
      return `${event.toolId} ${event.title ?? event.text ?? ""}`;
    case "tool.ended":
      return `${event.toolId} ${event.outcome}: ${event.text}`;
    case "permission.requested":
      return `${event.requestId} ${event.tool} ${JSON.stringify(event.input) ?? ""}`; // the title is truncated
    case "permission.resolved":
      return `${event.requestId} ${event.decision} (${event.prefix === undefined ? event.scope : `${event.scope}: ${event.prefix} …`}, by ${event.by}) ${event.message ?? ""}`;
    case "question.asked":
      return `${event.requestId} ${event.message}`;
    case "question.answered":
      return `${event.requestId} ${event.action} (by ${event.by})`;
    case "plan.updated":
      return event.entries.map((entry) => `${entry.content} (${entry.status})`).join("; ");
    case "usage.reported":
      return `${event.inputTokens} in, ${event.outputTokens} out${event.costUsd === undefined ? "" : `, ${formatUsd(event.costUsd)}${event.costBy === "computed" ? " (computed)" : ""}`}`;
    case "mcp.status":
      return `${event.server}: ${event.status} ${event.reason ?? ""}`;
    case "tool.chosen":
      return `${event.tool} ${event.enabled ? "on" : "off"}`;
    case "plugin.saved":
      return `${event.plugin} ${event.version}`;
    case "process.started":
      return `${event.pid} ${event.command}`;
    case "process.exited":
      return `${event.pid} ${event.signal ?? `exit ${event.exitCode ?? "unknown"}`}`;
    case "agent.connected":
      return `${event.nativeId ?? ""} (${event.how})`.trimStart();
    case "agent.raw":
      return JSON.stringify(event.data) ?? "";
    case "budget.set":
      return `${event.of} ${budgetText(event.budget)}`;
    case "budget.raised":
      return `${event.of} ${event.to === null ? `without limit in ${event.unit}` : budgetText({ [event.unit]: event.to })}`;
    case "conversation.replaced":
      return `${event.messages.length} messages`;
    case "context.compacted":
      return `up to ${event.throughSeq}: ${event.summary}`;
    case "subagent.started":
      return `${shortId(event.childSessionId)} ${event.title}`;
    case "subagent.ended":
      return `${shortId(event.childSessionId)} ${outcomeText(event.outcome)}`;
    case "notice":
      return `${event.level}: ${event.message}`;
  }
}

function outcomeText(outcome: TurnOutcome): string {
  return "message" in outcome ? `${outcome.status}: ${outcome.message}` : outcome.status;
}
