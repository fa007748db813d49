/** Writes the log of a task under a lease: one owner at a time. Other processes may still append a stop request. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  applyTask,
  isEnded,
  isRookeryError,
  newId,
  RookeryError,
  type Lease,
  type Store,
  type TaskEventBody,
  type TaskEventDraft,
  type TaskState,
} from "../domain/index.ts";
import { releaseSessionLease, keepLeaseRenewed, retryStore, takeLease, type LeaseTiming } from "../session/index.ts";
import type { Clock } from "../stdx/index.ts";

export interface TaskWriterParts {
  readonly store: Store;
  readonly clock: Clock;
  /** The lease holder: the marker of the process, which its children carry too. */
  readonly owner: string;
  readonly leaseTiming?: LeaseTiming | undefined;
}

export interface TaskWriter extends AsyncDisposable {
  readonly state: TaskState;
  /** Aborts when another process has taken the lease. */
  readonly lost: AbortSignal;
  /** Resolves when the events are durable. Rejects with `lease_lost`, or with a `store_*` error after 30 s of retries. */
  write(...bodies: TaskEventBody[]): Promise<TaskState>;
  /** Reads the events that other processes appended. */
  refresh(): Promise<TaskState>;
  /** Like `refresh`, but does nothing if our own events explain this head. */
  catchUpTo(head: number): Promise<TaskState>;
}

/** Bounds the retries after `append_conflict`. */
const MAX_ATTEMPTS = 100;

/** How long the process that ended a task may take to release it. */
const RELEASE_MS = 2_000;
const RELEASE_POLL_MS = 20;

/** Takes the lease of the task. Rejects with `task_not_found`, or with `task_state` if a live process holds the lease. */
export async function openTaskWriter(parts: TaskWriterParts, taskId: string): Promise<TaskWriter> {
  const { store } = parts;
  await requireTask(store, taskId);
  const lease = await takeTaskLease(parts, taskId);
  const state = await retryStore(() => requireTask(store, taskId)).catch(async (error: unknown) => {
    await releaseSessionLease(store, lease).catch(() => undefined); // report the first failure
    throw error;
  });
  return holdTaskWriter(parts, state, lease);
}

/** Waits for the lease if the task has ended: its process releases it only after the last event is visible to others. */
async function takeTaskLease(
  { store, clock, owner, leaseTiming: timing }: TaskWriterParts,
  taskId: string,
): Promise<Lease> {
  for (const deadline = performance.now() + RELEASE_MS; ;) {
    try {
      return await takeLease({ store, sessionId: taskId, owner, clock, timing });
    } catch (cause) {
      if (!isRookeryError(cause, "session_in_use")) throw cause;
      if (performance.now() >= deadline || !isEnded(await requireTask(store, taskId))) {
        const advice = "stop it first, or wait until it ends";
        throw new RookeryError("task_state", `task ${taskId} is in use by another process; ${advice}`, { cause });
      }
    }
    await sleep(RELEASE_POLL_MS);
  }
}

/** Opens a writer with a lease that the caller already holds. */
export function holdTaskWriter(
  { store, clock, owner, leaseTiming: timing }: TaskWriterParts,
  taken: TaskState,
  lease: Lease,
): TaskWriter {
  const lost = new AbortController();
  const keeping = { store, sessionId: taken.id, owner, clock, timing };
  const kept = keepLeaseRenewed(keeping, lease, (error) => lost.abort(error));
  const { id: taskId } = taken;
  let state = taken;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
  const refreshed = async () => (state = await retryStore(() => requireTask(store, taskId), { signal: lost.signal }));
  const written = async (bodies: readonly TaskEventBody[]): Promise<TaskState> => {
    const id = newId("app", clock.now());
    for (let tries = 1; ; tries += 1) {
      const events = stampEvents(clock, bodies);
      try {
        const append = { taskId, id, expectedHead: state.head, fence: lease.generation, events };
        const { repeated } = await retryStore(() => store.appendTask(append), { signal: lost.signal });
        if (repeated) return await refreshed(); // an attempt that seemed to fail was durable
        const apply = (before: TaskState, event: TaskEventDraft) =>
          applyTask(before, { ...event, seq: before.head + 1, taskId });
        return (state = events.reduce(apply, state));
      } catch (error) {
        if (!isRookeryError(error, "append_conflict") || tries >= MAX_ATTEMPTS) throw error;
        await refreshed();
      }
    }
  };
  return {
    get state() {
      return state;
    },
    lost: lost.signal,
    write: (...bodies) => inTurn(() => written(bodies)),
    refresh: () => inTurn(refreshed),
    catchUpTo: (head) => inTurn(async () => (state.head < head ? refreshed() : state)),
    async [Symbol.asyncDispose]() {
      await last;
      await kept[Symbol.asyncDispose]();
    },
  };
}

/** Appends one event without a lease, such as a stop request to the process that runs the task. */
export async function appendTaskEvent(
  { store, clock }: Omit<TaskWriterParts, "owner">,
  taskId: string,
  body: TaskEventBody,
) {
  const id = newId("app", clock.now());
  await requireTask(store, taskId);
  await store.appendTaskAtHead({ taskId, id, decide: () => stampEvents(clock, [body]) });
}

export function stampEvents(clock: Clock, bodies: readonly TaskEventBody[]): TaskEventDraft[] {
  const at = new Date(clock.now()).toISOString();
  return bodies.map((body) => ({ ...body, at }));
}

export async function requireTask(store: Store, taskId: string): Promise<TaskState> {
  const state = await store.task(taskId);
  if (state !== undefined) return state;
  throw new RookeryError("task_not_found", `there is no task ${taskId}; \`rookery task list\` lists all tasks`);
}

/** Resolves when the task has an event that the state does not have, or after this time in milliseconds. */
export async function waitForTaskEvent(store: Store, { id, head }: TaskState, ms: number): Promise<void> {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), ms);
  try {
    for await (const _ of store.watchTaskHead({ taskId: id, after: head, signal: end.signal })) return;
  } finally {
    clearTimeout(timer);
  }
}
