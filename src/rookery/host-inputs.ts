/**
 * Delivers inputs that other hosts queue for sessions of this host. A session that no process drives is opened until it
 * is idle again.
 */
import { isRookeryError, type FeedText, type LogEvent, type Store } from "../domain/index.ts";
import { isDriven, isOtherProcessError, watchWithRetry, type LeaseTiming, type Session } from "../session/index.ts";
import { waitForAbort, type Clock } from "../stdx/index.ts";

export interface HostInputsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly leaseTiming: LeaseTiming;
  readonly host: string;
  /** Opens a session to drive it. */
  openSession(id: string): Promise<Session>;
  /** Opens no more sessions, and ends when those that are open are idle. */
  readonly drain: AbortSignal;
  /** Leaves the sessions, like a server that stops. */
  readonly signal: AbortSignal;
  readonly onProblem: (error: unknown) => void;
}

/** Each may be a running program. Inputs beyond this stay queued until the session is opened. */
const MAX_OPEN = 64;
/** Only these are parsed: a busy cluster has thousands of other events each second. */
const INPUT_QUEUED = /"type":"input\.queued"/;

/** Resolves when one of the signals has aborted and no session is open anymore. */
export async function deliverHostInputs(options: HostInputsOptions): Promise<void> {
  const { store, drain, onProblem } = options;
  const signal = AbortSignal.any([drain, options.signal]);
  const open = new Map<string, Promise<void>>();
  /** Sessions that got another input while they were open. It may have arrived after their queue was last checked. */
  const again = new Set<string>();
  const deliver = (sessionId: string): void => {
    if (open.has(sessionId)) return void again.add(sessionId);
    if (open.size >= MAX_OPEN || signal.aborted) return;
    const delivery = deliverInputs(options, sessionId)
      .catch((error: unknown) => {
        if (!isOtherProcessError(error) && !isRookeryError(error, "session_closed")) onProblem(error);
      })
      .finally(() => {
        open.delete(sessionId);
        if (again.delete(sessionId)) deliver(sessionId);
      });
    open.set(sessionId, delivery);
  };
  let after: number | undefined;
  const follow = async function* (): AsyncGenerator<readonly FeedText[]> {
    after ??= (await store.readFeed({ after: 0, limit: 0 })).head;
    yield* store.followFeed({ after, signal });
  };
  const handlePage = (page: readonly FeedText[]): Promise<void> => {
    for (const { position, text } of page) {
      after = position;
      if (!INPUT_QUEUED.test(text)) continue;
      const event = JSON.parse(text) as LogEvent;
      if (event.type === "input.queued") deliver(event.sessionId);
    }
    return Promise.resolve();
  };
  await watchWithRetry(follow, handlePage, signal);
  await Promise.all(open.values());
}

async function deliverInputs(options: HostInputsOptions, sessionId: string): Promise<void> {
  const { store, clock, leaseTiming, host, signal } = options;
  const summary = await store.summary(sessionId);
  if (summary?.host !== host || summary.task !== undefined || summary.status === "closed") return;
  if (await isDriven(store, sessionId, clock, leaseTiming)) return;
  const session = await options.openSession(sessionId);
  try {
    await Promise.race([session.idle(), waitForAbort(signal)]);
  } finally {
    await session.close();
  }
}
