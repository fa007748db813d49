/** Formats a session as short text, one line per event, for assertions in tests. */
import { formatInput, type SessionEvent } from "../domain/index.ts";

/** Formats events as lines. Omits values that differ between two runs of the same script: ids, times and token counts. */
export function transcript(events: readonly SessionEvent[]): string[] {
  return events.map(formatEvent).filter((text) => text !== undefined);
}

/** Collects all events of a stream. */
export async function collectEvents<Event = SessionEvent>(events: AsyncIterable<Event>): Promise<Event[]> {
  const collected: Event[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

function formatEvent(event: SessionEvent): string | undefined {
  switch (event.type) {
    case "session.opened":
      return `opened ${event.agent}`;
    case "session.closed":
      return "closed";
    case "agent.switched":
      return `switched to ${event.to}`;
    case "turn.started":
      return `started ${formatInput(event.input)}`;
    case "turn.ended":
      return event.outcome.status === "failed" ? `ended failed ${event.outcome.code}` : `ended ${event.outcome.status}`;
    case "turn.parked":
      return "parked";
    case "turn.continued":
      return "continued";
    case "limit.reached":
      return "limited";
    case "input.queued":
      return `queued ${formatInput(event.input)}`;
    case "input.delivered":
      return `steered ${formatInput(event.input)}`;
    case "turn.cancel_requested":
      return "asked to cancel";
    case "permission.revoked":
      return `revoked ${event.tool}${event.prefix === undefined ? "" : `: ${event.prefix}`}`;
    case "input.withdrawn":
      return "withdrew an input";
    case "conversation.replaced":
      return `replaced by ${event.messages.length} messages`;
    case "message.completed":
      return event.text === "" ? undefined : `says ${event.text}`;
    case "tool.started":
      return `tool ${event.title}`;
    case "tool.ended":
      return `tool ${event.outcome}`;
    case "permission.requested":
      return `asks ${event.requestId} ${event.title}`;
    case "permission.resolved":
      return `answered ${event.requestId} ${event.decision} ${event.prefix ?? event.scope} by ${event.by}`;
    case "question.asked":
      return `asks ${event.requestId} ${event.message}`;
    case "question.answered":
      return `answered ${event.requestId} ${event.action}`;
    case "plan.updated":
      return `plan ${event.entries.length}`;
    case "mcp.status":
      return `mcp ${event.server} ${event.status}`;
    case "output.text":
      return `prints ${event.text}`;
    case "context.compacted":
      return "compacted";
    case "budget.set":
      return `budget of the ${event.of}`;
    case "budget.raised":
      return `budget of the ${event.of} raised in ${event.unit}`;
    case "subagent.started":
      return `subagent ${event.title}`;
    case "subagent.ended":
      return `subagent ${event.outcome.status}`;
    case "notice":
      return `notice ${event.code}`;
    case "message.delta":
    case "thought.delta":
    case "tool.updated":
    case "usage.reported":
    case "process.started":
    case "process.exited":
    case "agent.connected":
    case "agent.defined":
    case "agent.raw":
    case "tool.chosen":
    case "plugin.saved":
      return undefined;
  }
}
