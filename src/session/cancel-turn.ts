/**
 * Cancels the running turn of a session from any process: the request is appended to the log, and the process that
 * drives the session finds it there.
 */
import { RookeryError, type SessionStore } from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import { appendWithoutLease, sessionNotFound } from "./answer.ts";
import { checkText } from "./parameters.ts";
import { followWithRetry } from "./store-retry.ts";

export interface CancelStoredTurnOptions {
  readonly sessionId: string;
  /** Cancels only this turn, and requests it at most once. Default: the turn that runs. */
  readonly turnId?: string | undefined;
  readonly clock: Clock;
}

/** A cancelled agent gets ten seconds to stop, and its process may be busy. */
const CANCEL_TIMEOUT_MS = 20_000;

/**
 * Resolves when the request is durable, with the ID of the turn, or with undefined if no turn runs. If no process
 * drives the session, the turn is cancelled when one opens it. Rejects with `session_not_found`, or with
 * `session_in_use` if the session belongs to a task, which has to be stopped instead.
 */
export async function cancelStoredTurn(
  store: SessionStore,
  { sessionId, turnId: wanted, clock }: CancelStoredTurnOptions,
): Promise<string | undefined> {
  checkText(sessionId, "the session ID");
  if ((await store.summary(sessionId)) === undefined) throw sessionNotFound(sessionId);
  const { turnId, isCancelRequested } = (await findRunningTurn(store, sessionId)) ?? {};
  if (turnId === undefined || (wanted !== undefined && wanted !== turnId)) return undefined;
  if (wanted !== undefined && isCancelRequested === true) return turnId;
  let isRequested = false;
  await appendWithoutLease(store, sessionId, clock, ({ status, task }) => {
    isRequested = ["running", "waiting", "parked"].includes(status);
    if (!isRequested) return undefined;
    if (task !== undefined) throw belongsToTask(sessionId, task);
    return { body: { type: "turn.cancel_requested" }, turnId }; // changes nothing if another turn runs by now
  });
  return isRequested ? turnId : undefined;
}

/** Resolves when the turn has ended. Rejects with `session_in_use` if its process does not end it within 20 s. */
export async function waitForTurnEnd(store: SessionStore, sessionId: string, turnId: string): Promise<void> {
  const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  const after = Math.max(0, ((await store.summary(sessionId))?.head ?? 0) - 1);
  if ((await findRunningTurn(store, sessionId))?.turnId !== turnId) return;
  try {
    for await (const event of followWithRetry(store, { sessionId, after, signal }))
      if (event.type === "turn.ended" && event.turnId === turnId) return;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const what = `session ${sessionId} is driven by another process, which has not cancelled its turn yet`;
  throw new RookeryError("session_in_use", `${what}: cancel it there, or close the session`);
}

function belongsToTask(sessionId: string, task: string): RookeryError {
  return new RookeryError(
    "session_in_use",
    `session ${sessionId} belongs to task ${task}: stop it with \`rookery task stop ${task}\` instead`,
  );
}

interface RunningTurn {
  readonly turnId: string | undefined;
  readonly isCancelRequested: boolean;
}

/** Reads from the newest page backward. */
async function findRunningTurn(store: SessionStore, sessionId: string): Promise<RunningTurn | undefined> {
  const requested = new Set<string | undefined>();
  for (let before: number | undefined; ;) {
    const { events } = await store.read({ sessionId, before, order: "newest_first" });
    for (const { type, turnId } of events) {
      if (type === "turn.ended") return undefined;
      if (type === "turn.started") return { turnId, isCancelRequested: requested.has(turnId) };
      if (type === "turn.cancel_requested") requested.add(turnId);
    }
    before = events.at(-1)?.seq;
    if (before === undefined) return undefined;
  }
}
