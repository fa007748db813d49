/**
 * Links a request that has an idempotency key to the event that it appends. The store writes the key in the same commit
 * as the event, so that a process that is killed before it responds does not run the request twice.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface RequestKey {
  readonly key: string;
  /** A digest of the request: another request with the same key is a mistake. */
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** `logId` is the session or task that the event is appended to. */
export type EventMatcher = (event: { readonly type: string }, logId: string) => boolean;

interface RequestContext {
  readonly request: RequestKey;
  readonly isMade: EventMatcher;
  readonly expectations: Set<EventMatcher>;
}

const contexts = new AsyncLocalStorage<RequestContext>();
/** Requests that expect an event which another async context appends, such as the recorder's loop of a session. */
const expecting = new Set<RequestContext>();

/** Runs the work. The first matching event that it appends is the result of the request. */
export async function withRequestKey<T>(request: RequestKey, isMade: EventMatcher, work: () => Promise<T>): Promise<T> {
  const context: RequestContext = { request, isMade, expectations: new Set() };
  try {
    return await contexts.run(context, work);
  } finally {
    expecting.delete(context);
  }
}

/** Also accepts a matching event that another async context appends as the result of the current request. */
export function expectMadeEvent(isMade: EventMatcher): void {
  const context = contexts.getStore();
  if (context === undefined) return;
  context.expectations.add(isMade);
  expecting.add(context);
}

/** The request that one of the events is the result of, and the index of that event. */
export function requestOfEvents(
  events: readonly { readonly type: string }[],
  logId: string,
): { readonly request: RequestKey; readonly index: number } | undefined {
  const current = contexts.getStore();
  const own = current === undefined ? -1 : events.findIndex((event) => current.isMade(event, logId));
  if (current !== undefined && own !== -1) return { request: current.request, index: own };
  for (const { request, expectations } of expecting) {
    const index = events.findIndex((event) => Array.from(expectations).some((isMade) => isMade(event, logId)));
    if (index !== -1) return { request, index };
  }
  return undefined;
}
