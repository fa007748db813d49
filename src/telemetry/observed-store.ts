/** Measures the calls of a store, and passes on what this process has committed, without changing what callers see. */
import {
  isRookeryError,
  type Append,
  type AppendAtHead,
  type EventDraft,
  type Lease,
  type Store,
  type TaskAppend,
  type TaskAppendAtHead,
  type TaskClaim,
  type TaskEventDraft,
} from "../domain/index.ts";

export interface StoreObserver {
  /** A group of events is durable. `before` is the head of the log before them. */
  onSessionEvents(sessionId: string, before: number, events: readonly EventDraft[]): void;
  onTaskEvents(taskId: string, before: number, events: readonly TaskEventDraft[]): void;
  onAppend(seconds: number): void;
  /** `head` includes the event of the claim. */
  onClaim(taskId: string, head: number): void;
  onLease(change: "taken" | "renewed" | "released" | "lost", sessionId: string): void;
  /** A call failed with an error of the store, such as `store_unavailable`. */
  onStoreError(code: string): void;
  /** The age of the newest event of a page when a follower received it. */
  onFollowed(seconds: number): void;
}

type AnyMethod = (...args: never[]) => unknown;
type Wrappers = { readonly [Name in keyof Store]?: (call: Store[Name]) => Store[Name] };

/** Methods that the observer does not know are passed on, and only their failures are counted. */
export function observeStore(store: Store, observer: StoreObserver): Store {
  const wrappers = createWrappers(observer);
  const wrapped = new Map<PropertyKey, unknown>();
  return new Proxy(store, {
    get(target, name) {
      const known = wrapped.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const method = countFailures((value as AnyMethod).bind(target), observer);
      const wrap = wrappers[name as keyof Store] as ((call: AnyMethod) => unknown) | undefined;
      const result = wrap === undefined ? method : wrap(method);
      wrapped.set(name, result);
      return result;
    },
  });
}

function createWrappers(observer: StoreObserver): Wrappers {
  const timed = async <T>(call: () => Promise<T>): Promise<T> => {
    const since = performance.now();
    const result = await call();
    observer.onAppend((performance.now() - since) / 1000);
    return result;
  };
  return {
    append: (call) => async (append: Append) => {
      const appended = await timed(() => call(append));
      const { sessionId, events } = append;
      if (!appended.repeated) observer.onSessionEvents(sessionId, appended.head - events.length, events);
      return appended;
    },
    appendAtHead: (call) => async (append: AppendAtHead) => {
      const decided = recordDecision(append);
      const appended = await timed(() => call({ ...append, decide: decided.decide }));
      const { events } = decided;
      if (!appended.repeated && events.length > 0)
        observer.onSessionEvents(append.sessionId, appended.head - events.length, events);
      return appended;
    },
    appendTask: (call) => async (append: TaskAppend) => {
      const appended = await timed(() => call(append));
      const { taskId, events } = append;
      if (!appended.repeated) observer.onTaskEvents(taskId, appended.head - events.length, events);
      return appended;
    },
    appendTaskAtHead: (call) => async (append: TaskAppendAtHead) => {
      const decided = recordDecision(append);
      const appended = await timed(() => call({ ...append, decide: decided.decide }));
      const { events } = decided;
      if (!appended.repeated && events.length > 0)
        observer.onTaskEvents(append.taskId, appended.head - events.length, events);
      return appended;
    },
    claimTask: (call) => async (claim: TaskClaim) => {
      const claimed = await call(claim);
      if (claimed !== undefined) {
        observer.onLease("taken", claimed.lease.sessionId);
        observer.onClaim(claimed.state.id, claimed.state.head);
      }
      return claimed;
    },
    acquireLease: (call) => async (request) => {
      const lease = await call(request);
      observer.onLease("taken", lease.sessionId);
      return lease;
    },
    renewLeases: (call) => async (leases: readonly Lease[], until: number) => {
      const renewed = await call(leases, until);
      for (const [index, { sessionId }] of leases.entries()) {
        observer.onLease(renewed[index] === undefined ? "lost" : "renewed", sessionId);
      }
      return renewed;
    },
    releaseLease: (call) => async (lease) => {
      await call(lease);
      observer.onLease("released", lease.sessionId);
    },
    delete: (call) => async (lease) => {
      await call(lease);
      observer.onLease("released", lease.sessionId);
    },
    follow: (call) => (query) => watchLag(call(query), observer, ({ at }) => at),
    followText: (call) => (query) => watchLag(call(query), observer, (page) => findTime(page.at(-1)?.text)),
    followFeed: (call) => (query) => watchLag(call(query), observer, (page) => findTime(page.at(-1)?.text)),
  };
}

/** Keeps what `decide` returned last, which is what is committed. */
function recordDecision<State, Draft>(append: {
  readonly decide: (state: State) => readonly Draft[];
}): { readonly decide: (state: State) => readonly Draft[]; events: readonly Draft[] } {
  const recorded = {
    events: [] as readonly Draft[],
    decide: (state: State) => (recorded.events = append.decide(state)),
  };
  return recorded;
}

function countFailures(call: AnyMethod, observer: StoreObserver): AnyMethod {
  const count = (error: unknown): void => {
    if (isRookeryError(error)) {
      if (error.code.startsWith("store_") || error.code === "log_corrupt") observer.onStoreError(error.code);
    } else observer.onStoreError("internal");
  };
  return (...args) => {
    const result = call(...args);
    if (result instanceof Promise) result.catch(count);
    return result;
  };
}

/** Counts only events from after the start of the follower; older ones are history. */
function watchLag<T>(
  items: AsyncIterable<T>,
  observer: StoreObserver,
  timeOf: (item: T) => string | undefined,
): AsyncIterable<T> {
  const started = Date.now();
  return {
    [Symbol.asyncIterator]() {
      const iterator = items[Symbol.asyncIterator]();
      const watched: AsyncIterator<T> = {
        async next() {
          const result = await iterator.next();
          if (result.done !== true) {
            const made = Date.parse(timeOf(result.value) ?? "");
            if (made >= started) observer.onFollowed(Math.max(0, Date.now() - made) / 1000);
          }
          return result;
        },
      };
      return {
        ...watched,
        return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

/** Reads the time of an event without parsing it. A string inside the event may look the same, but comes later. */
function findTime(text: string | undefined): string | undefined {
  return text === undefined ? undefined : /"at":"([^"]{20,30})"/.exec(text)?.[1];
}
