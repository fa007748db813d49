/** Lists the permission requests and questions that wait for an answer, over all sessions. */
import {
  isRookeryError,
  type EventOf,
  type SessionEvent,
  type SessionStore,
  type SessionSummary,
} from "../domain/index.ts";

export interface WaitingRequest {
  readonly sessionId: string;
  readonly requestId: string;
  readonly agent: string;
  /** The task that the session belongs to. */
  readonly task?: string | undefined;
  readonly at: string;
  readonly kind: "permission" | "question";
  readonly title: string;
  readonly tool?: string | undefined;
  readonly toolKind?: EventOf<"permission.requested">["kind"] | undefined;
  /** For permission requests: the input of the tool call. */
  readonly input?: unknown;
  /** For permission requests: the changes that the call would make to files, if they are known. */
  readonly diffs?: EventOf<"permission.requested">["diffs"] | undefined;
  /** For questions: who asks. */
  readonly from?: string | undefined;
  /** For questions: a JSON schema of the expected answer. */
  readonly schema?: unknown;
  readonly url?: string | undefined;
}

const MAX_WAITING_SESSIONS = 1_000;
/** Requests outside of a turn are rare, so only the newest sessions are searched for them. */
const MAX_SCANNED_SESSIONS = 1_000;

/**
 * Oldest first. Reads summaries and, of sessions that wait, the end of the log, so the number of sessions does not
 * matter.
 */
export async function listWaitingRequests(store: SessionStore): Promise<WaitingRequest[]> {
  const [waiting, newest] = await Promise.all([
    store.list({ status: "waiting", limit: MAX_WAITING_SESSIONS }),
    store.list({ limit: MAX_SCANNED_SESSIONS }),
  ]);
  const candidates = new Map([...waiting, ...newest].filter(isWaiting).map((summary) => [summary.id, summary]));
  const found: WaitingRequest[] = [];
  for (const summary of candidates.values()) {
    found.push(...(await sessionWaitingRequests(store, summary).catch(ignoreDeletedSession)));
  }
  return found.sort((one, other) => (one.at < other.at ? -1 : 1));
}

/** Reads from the newest page backwards, because pending requests are recent. Rejects with `session_not_found`. */
export async function sessionWaitingRequests(store: SessionStore, summary: SessionSummary): Promise<WaitingRequest[]> {
  const missing = new Set(summary.waitingFor);
  const found: WaitingRequest[] = [];
  for (let before: number | undefined; missing.size > 0;) {
    const { events } = await store.read({ sessionId: summary.id, before, order: "newest_first" });
    for (const event of events)
      if (isRequestEvent(event) && missing.delete(event.requestId)) found.unshift(toWaitingRequest(event, summary));
    before = events.at(-1)?.seq;
    if (before === undefined) break;
  }
  return found;
}

function isWaiting({ status, waitingFor }: SessionSummary): boolean {
  return waitingFor.length > 0 && status !== "closed" && status !== "copying";
}

/** Leaves out sessions that are deleted while the list is built. */
function ignoreDeletedSession(error: unknown): WaitingRequest[] {
  if (isRookeryError(error, "session_not_found")) return [];
  throw error;
}

function isRequestEvent(event: SessionEvent): event is EventOf<"permission.requested"> | EventOf<"question.asked"> {
  return event.type === "permission.requested" || event.type === "question.asked";
}

function toWaitingRequest(
  event: EventOf<"permission.requested"> | EventOf<"question.asked">,
  { task }: SessionSummary,
): WaitingRequest {
  const { sessionId, requestId, agent, at } = event;
  const common = { sessionId, requestId, agent, task, at };
  if (event.type === "permission.requested") {
    const { title, tool, kind: toolKind, input, diffs } = event;
    return { ...common, kind: "permission", title, tool, toolKind, input, ...(diffs !== undefined && { diffs }) };
  }
  const { message: title, from, schema, url } = event;
  return { ...common, kind: "question", title, from, schema, url };
}
