/** Checks what a registered backend records. One invalid event would make the log of its session unreadable. */
import { findDraftProblem, RookeryError, type EventBody, type EventType } from "../../domain/index.ts";
import { toPlainJson } from "../../tools/index.ts";
import { isUsableNativeId } from "../program/native-id.ts";

/** The events that a backend may record. The session records the others. A new event does not compile until it is listed. */
const IS_RECORDABLE: Record<EventType, boolean> = {
  "session.opened": false,
  "session.closed": false,
  "agent.switched": false,
  "agent.defined": false,
  "agent.connected": true,
  "turn.started": false,
  "turn.ended": false,
  "turn.cancel_requested": false,
  "limit.reached": false,
  "turn.parked": false,
  "turn.continued": false,
  "input.queued": false,
  "input.delivered": false,
  "input.withdrawn": false,
  "conversation.replaced": false,
  "message.delta": true,
  "message.completed": true,
  "thought.delta": true,
  "tool.started": true,
  "tool.updated": true,
  "tool.ended": true,
  "permission.requested": false,
  "permission.resolved": false,
  "permission.revoked": false,
  "question.asked": false,
  "question.answered": false,
  "plan.updated": true,
  "usage.reported": true,
  "mcp.status": true,
  "tool.chosen": false,
  "plugin.saved": false,
  "process.started": true,
  "process.exited": true,
  "output.text": true,
  "agent.raw": true,
  "context.compacted": false,
  "budget.set": false,
  "budget.raised": false,
  "subagent.started": true,
  "subagent.ended": true,
  notice: true,
};

/** Placeholder fields, because only the body is checked. */
const ENVELOPE = { at: "2000-01-01T00:00:00.000Z", agent: "" } as const;

/** Returns a plain copy of the event. Throws `agent_failed` if it cannot be recorded, or if only the session records it. */
export function readRecordedEvent(body: unknown, backend: string): EventBody {
  const refuse = (why: string) => new RookeryError("agent_failed", `the backend ${backend} ${why}`);
  let event: EventBody;
  try {
    event = toPlainJson(body, "the event") as EventBody;
  } catch (cause) {
    throw new RookeryError("agent_failed", `the backend ${backend} recorded a value that is not JSON`, { cause });
  }
  const type: unknown = (event as { readonly type?: unknown } | null)?.type;
  if (typeof type !== "string") throw refuse("recorded a value that is no event");
  if (Object.hasOwn(IS_RECORDABLE, type) && !IS_RECORDABLE[type as EventType]) {
    throw refuse(`recorded ${type}, which only the session records`);
  }
  const problem = findDraftProblem({ ...ENVELOPE, ...event });
  if (problem !== undefined)
    throw refuse(`recorded an invalid event (${type.slice(0, 100)}): ${problem.slice(0, 500)}`);
  if (event.type === "agent.connected" && event.nativeId !== undefined && !isUsableNativeId(event.nativeId)) {
    throw refuse("recorded a nativeId that is empty, too long, or has control characters");
  }
  return event;
}
