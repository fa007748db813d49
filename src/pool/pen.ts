/** The right to write a task's log, and the writing: one owner at a time, though others may ask it to stop in between. */
import {
  applyTask,
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

export interface PenParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Who holds the lease: the process, as its children know it. */
  readonly owner: string;
  readonly leaseTiming?: LeaseTiming | undefined;
}

export interface Pen extends AsyncDisposable {
  readonly state: TaskState;
  /** Fires when someone else has the task. */
  readonly lost: AbortSignal;
  /** Resolves when it is on the disk. Rejects with `lease_lost`, or with a `store_*` error that lasts for 30 s. */
  write(...bodies: TaskEventBody[]): Promise<TaskState>;
  /** What others wrote meanwhile. */
  refresh(): Promise<TaskState>;
}

/** How often another's event may get in between before it is no coincidence. */
const TRIES = 100;

/** Rejects with `task_not_found`, or `task_state` while a living process has it. */
export async function takePen(parts: PenParts, taskId: string): Promise<Pen> {
  const { store, clock, owner, leaseTiming: timing } = parts;
  await mustBeThere(store, taskId);
  const lease = await takeLease({ store, sessionId: taskId, owner, clock, timing }).catch((error: unknown) => {
    if (!isRookeryError(error, "session_in_use")) throw error;
    throw new RookeryError("task_state", `task ${taskId} is being worked on: stop it first, or wait for its end`, {
      cause: error,
    });
  });
  const state = await retryStore(() => mustBeThere(store, taskId)).catch(async (error: unknown) => {
    await releaseSessionLease(store, lease).catch(() => undefined); // the first failure says more
    throw error;
  });
  return holdPen(parts, state, lease);
}

/** With a lease that is held already. */
export function holdPen({ store, clock, owner, leaseTiming: timing }: PenParts, taken: TaskState, lease: Lease): Pen {
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
  const refreshed = async () => (state = await retryStore(() => mustBeThere(store, taskId), { signal: lost.signal }));
  const written = async (bodies: readonly TaskEventBody[]): Promise<TaskState> => {
    const id = newId("app", clock.now());
    for (let tries = 1; ; tries += 1) {
      const events = stamped(clock, bodies);
      try {
        const append = { taskId, id, expectedHead: state.head, fence: lease.generation, events };
        const { repeated } = await retryStore(() => store.appendTask(append), { signal: lost.signal });
        if (repeated) return await refreshed(); // a failed attempt was durable
        const apply = (before: TaskState, event: TaskEventDraft) =>
          applyTask(before, { ...event, seq: before.head + 1, taskId });
        return (state = events.reduce(apply, state));
      } catch (error) {
        if (!isRookeryError(error, "append_conflict") || tries >= TRIES) throw error;
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
    async [Symbol.asyncDispose]() {
      await last;
      await kept[Symbol.asyncDispose]();
    },
  };
}

/** Appends one event without a lease: what anyone may say to whoever has the task. */
export async function writeFromOutside({ store, clock }: Omit<PenParts, "owner">, taskId: string, body: TaskEventBody) {
  const id = newId("app", clock.now());
  await mustBeThere(store, taskId);
  await store.appendTaskAtHead({ taskId, id, decide: () => stamped(clock, [body]) });
}

export function stamped(clock: Clock, bodies: readonly TaskEventBody[]): TaskEventDraft[] {
  const at = new Date(clock.now()).toISOString();
  return bodies.map((body) => ({ ...body, at }));
}

export async function mustBeThere(store: Store, taskId: string): Promise<TaskState> {
  const state = await store.task(taskId);
  if (state !== undefined) return state;
  throw new RookeryError("task_not_found", `there is no task ${taskId}: \`rookery task list\` shows what there is`);
}
