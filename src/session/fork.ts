/** A new session that begins with what was said in another, which is not touched. */
import {
  SessionFold,
  emptyState,
  isRookeryError,
  newId,
  type EventDraft,
  type Lease,
  type SessionEvent,
  type SessionState,
} from "../domain/index.ts";
import { sessionNotFound } from "./answer.ts";
import { deleteStoredSession } from "./delete.ts";
import { keepLeaseRenewed } from "./lease-keeper.ts";
import { takeLease } from "./lease.ts";
import type { OpenOptions } from "./open.ts";
import { readSessionPages } from "./pages.ts";

type ForkStoreOptions = Pick<OpenOptions, "store" | "clock" | "owner" | "leaseTiming">;

export interface ForkChanges {
  readonly cwd?: string | undefined;
  readonly title?: string | undefined;
}

/**
 * Resolves with the new session's id. It has all turns that have ended, or what took their place; its log is written page by page, and it is
 * listed and can be opened only once it is whole. Rejects with `session_not_found`.
 */
export async function forkStoredSession(options: ForkStoreOptions, sessionId: string, changes: ForkChanges): Promise<string> {
  const { store, clock, owner, leaseTiming: timing } = options;
  await deleteIncompleteForks(options);
  const { state, through } = await readSource(options, sessionId);
  const leasing = { store, clock, owner, timing, sessionId: newId("ses", clock.now()) };
  const lease = await takeLease(leasing);
  const kept = keepLeaseRenewed(leasing, lease, () => undefined); // an append under a lost lease is refused
  try {
    await copyLog(options, { from: state, through, lease, changes });
  } catch (error) {
    await store.delete(lease).catch(() => undefined); // what stays is collected by the next fork
    throw error;
  } finally {
    await kept[Symbol.asyncDispose]();
  }
  return lease.sessionId;
}

/** Checked and committed in one piece each: some 10 ms in which nobody else can do anything. */
const COPY_PAGE = { limit: 250, maxBytes: 512 * 1024 };

interface CopyOptions {
  readonly from: SessionState;
  readonly through: number;
  readonly lease: Lease;
  readonly changes: ForkChanges;
}

async function copyLog({ store, clock }: ForkStoreOptions, { from, through, lease, changes }: CopyOptions): Promise<void> {
  const { sessionId, generation: fence } = lease;
  const { agent, backend, model, permissions } = from;
  const { cwd = from.cwd, title = from.title } = changes;
  const chosen = Object.hasOwn(from.agents, agent) && from.agents[agent]?.modelChosen === true;
  const forkOf = from.nativeId; // its program may know how to fork it
  const opened = (more: { copying: true } | { reopened: true }): EventDraft => {
    const body = { type: "session.opened" as const, backend, model, cwd, permissions, title, parent: from.id, forkOf };
    return { ...body, ...(chosen && { modelChosen: true }), ...more, agent, at: new Date(clock.now()).toISOString() };
  };
  let expectedHead = 0;
  const append = async (events: readonly EventDraft[]): Promise<void> => {
    const id = newId("app", clock.now());
    expectedHead = (await store.append({ sessionId, id, expectedHead, fence, events })).head;
  };
  await append([opened({ copying: true })]);
  const leftOut: number[] = [];
  for await (const page of readSessionPages(store, from.id, { through, ...COPY_PAGE })) {
    const events = page.flatMap((event) => copyEvent(event, leftOut));
    if (events.length > 0) await append(events);
  }
  await append([opened({ reopened: true })]);
}

/** Without what is about the other session and not about the conversation; `leftOut` gets the numbers of those. */
function copyEvent({ seq, sessionId: _, ...event }: SessionEvent, leftOut: number[]): EventDraft[] {
  switch (event.type) {
    case "session.opened": // the copy has its own
    case "session.closed":
    case "agent.connected": // the program's session stays the other's
    case "input.queued": // what was taken is in the turn's start; what was not would be run twice
    case "usage.reported": // was paid for there, and would be counted twice
      leftOut.push(seq);
      return [];
    case "budget.set":
      if (event.of === "session") return [event];
      leftOut.push(seq); // the copy is of no task
      return [];
    case "permission.resolved":
      return [{ ...event, scope: "once" }]; // what was allowed for that session is asked again in this one
    case "context.compacted": {
      const { throughSeq } = event;
      return [{ ...event, throughSeq: throughSeq - countUpTo(leftOut, throughSeq) + 1 }];
    }
    default:
      return [event];
  }
}

/** How many of the ascending numbers are at most so large. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The session as it is, and the end of its last turn that has one, or of what took the place of all of them. */
async function readSource({ store }: ForkStoreOptions, sessionId: string): Promise<{ state: SessionState; through: number }> {
  const summary = await store.summary(sessionId);
  if (summary === undefined || summary.status === "copying") throw sessionNotFound(sessionId);
  const fold = new SessionFold(emptyState(sessionId));
  let through = 0;
  for await (const page of readSessionPages(store, sessionId, { through: summary.head })) {
    for (const event of page) fold.add(event);
    const ends = ({ type }: SessionEvent): boolean => type === "turn.ended" || type === "conversation.replaced";
    through = page.findLast(ends)?.seq ?? through;
  }
  return { state: fold.state, through };
}

/** What processes that died while they copied have left. */
async function deleteIncompleteForks(options: ForkStoreOptions): Promise<void> {
  for (const { id } of await options.store.list({ status: "copying" })) {
    await deleteStoredSession(options, id).catch((error: unknown) => {
      const isOthers = ["session_in_use", "session_not_found", "lease_lost"] as const;
      if (!isOthers.some((code) => isRookeryError(error, code))) throw error;
    });
  }
}
