/** Forks a session: creates a new session with the conversation of another one, which stays unchanged. */
import { SessionFold, emptyState, type EventDraft, type SessionEvent, type SessionState } from "../domain/index.ts";
import { sessionNotFound } from "./answer.ts";
import { readSessionPages } from "./pages.ts";
import {
  COPY_PAGE,
  createSessionCopy,
  deleteIncompleteCopies,
  type AppendToCopy,
  type CopyOptions,
} from "./session-copy.ts";

export interface ForkChanges {
  readonly cwd?: string | undefined;
  readonly title?: string | undefined;
  /** The copy has only the turns that ended at or before this `seq`. Default: all turns that ended. */
  readonly through?: number | undefined;
}

/**
 * Resolves with the ID of the new session. It contains all finished turns, or the conversation that replaced them.
 * The log is copied page by page; the session is listed and can be opened only when the copy is complete. Rejects
 * with `session_not_found`.
 */
export async function forkStoredSession(
  options: CopyOptions,
  sessionId: string,
  changes: ForkChanges,
): Promise<string> {
  await deleteIncompleteCopies(options);
  const { state, through, isCut } = await readSource(options, sessionId, changes.through);
  return createSessionCopy(options, (append) => copyLog(options, { from: state, through, isCut, changes, append }));
}

interface LogCopy {
  readonly from: SessionState;
  readonly through: number;
  /** Whether the source has later turns. */
  readonly isCut: boolean;
  readonly changes: ForkChanges;
  readonly append: AppendToCopy;
}

async function copyLog(
  { store, clock }: CopyOptions,
  { from, through, isCut, changes, append }: LogCopy,
): Promise<void> {
  const { agent, backend, model, permissions } = from;
  const { cwd = from.cwd, title = from.title } = changes;
  const chosen = Object.hasOwn(from.agents, agent) && from.agents[agent]?.modelChosen === true;
  // The agent's program may be able to fork its session, but only with all of its turns.
  const forkOf = isCut ? undefined : from.nativeId;
  const opened = (more: { copying: true } | { reopened: true }): EventDraft => {
    const body = { type: "session.opened" as const, backend, model, cwd, permissions, title, parent: from.id, forkOf };
    return { ...body, ...(chosen && { modelChosen: true }), ...more, agent, at: new Date(clock.now()).toISOString() };
  };
  await append([opened({ copying: true })]);
  const leftOut: number[] = [];
  for await (const page of readSessionPages(store, from.id, { through, ...COPY_PAGE })) {
    const events = page.flatMap((event) => copyEvent(event, leftOut));
    if (events.length > 0) await append(events);
  }
  const at = new Date(clock.now()).toISOString();
  const definitions = Object.values(from.definitions).map((definition) => ({
    type: "agent.defined" as const,
    definition,
    agent,
    at,
  }));
  await append([...definitions, opened({ reopened: true })]);
}

/** Omits events that are about the source session and not about the conversation; adds their numbers to `leftOut`. */
function copyEvent({ seq, sessionId: _, ...event }: SessionEvent, leftOut: number[]): EventDraft[] {
  switch (event.type) {
    case "session.opened": // the copy has its own event
    case "agent.defined": // the copy gets the current definitions
    case "session.closed":
    case "agent.connected": // the program's session belongs to the source
    case "input.queued": // delivered input is part of `turn.started`; other input must not run twice
    case "input.withdrawn":
    case "turn.cancel_requested":
    case "permission.revoked": // the copy has no grants
    case "usage.reported": // it would be counted twice
      leftOut.push(seq);
      return [];
    case "budget.set":
      if (event.of === "session") return [event];
      leftOut.push(seq); // the copy does not belong to a task
      return [];
    case "permission.resolved": {
      const { prefix: _prefix, ...resolved } = event;
      return [{ ...resolved, scope: "once" }]; // the new session asks again for permissions
    }
    case "context.compacted": {
      const { throughSeq } = event;
      return [{ ...event, throughSeq: throughSeq - countUpTo(leftOut, throughSeq) + 1 }];
    }
    default:
      return [event];
  }
}

/** Counts the numbers up to `limit` in an ascending list. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the session's current state, and the `seq` of the last finished turn, or of the replacement of the
 * conversation, up to `limit`.
 */
async function readSource(
  { store }: CopyOptions,
  sessionId: string,
  limit = Infinity,
): Promise<{ state: SessionState; through: number; isCut: boolean }> {
  const summary = await store.summary(sessionId);
  if (summary === undefined || summary.status === "copying") throw sessionNotFound(sessionId);
  const fold = new SessionFold(emptyState(sessionId));
  let through = 0;
  let last = 0;
  for await (const page of readSessionPages(store, sessionId, { through: summary.head })) {
    for (const event of page) fold.add(event);
    const ends = ({ type }: SessionEvent): boolean => type === "turn.ended" || type === "conversation.replaced";
    last = page.findLast(ends)?.seq ?? last;
    through = page.findLast((event) => event.seq <= limit && ends(event))?.seq ?? through;
  }
  return { state: fold.state, through, isCut: through < last };
}
