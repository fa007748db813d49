/** Claims tasks within the limits, and runs them concurrently. */
import { setTimeout as sleep } from "node:timers/promises";
import { isEnded, isRookeryError, type ClaimedTask, type TaskEventBody } from "../domain/index.ts";
import { DEFAULT_LEASE_TIMING, abandonLease, watchWithRetry } from "../session/index.ts";
import { chooseNext } from "./choose.ts";
import { readHostLimit } from "./host-limit.ts";
import { canPlace, isOurTurn, plainPlacement, type PlacementRules } from "./placement.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import { runInterrupted, runStopped } from "./run-end.ts";
import { finishAbandonedMerges, listAbandoned, requeueAbandoned } from "./recover.ts";
import { RetryTimes } from "./remote/wait-for-remote.ts";
import { runTask } from "./run.ts";

export interface RunTasks {
  /** Runs only this task and resolves when it has ended. Default: runs all tasks until the signal aborts. */
  readonly only?: string | undefined;
  readonly signal: AbortSignal;
  /** When it aborts, takes no more tasks, and resolves after the running ones have ended. */
  readonly drain?: AbortSignal | undefined;
  /** How many tasks this call runs at once. Default: the limit of all processes, `defaults.max_running`. */
  readonly maxRunning?: number | undefined;
  /** Which tasks it takes. Default: those whose repository is on this host. */
  readonly placement?: (() => PlacementRules) | undefined;
  /** Called for problems outside of a task, such as a log that cannot be written for a while. */
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

/** How often to check without a change, because a task may be due. */
const LOOK_MS = 1_000;
/** The minimum time between two checks because of other processes. Changes by this process are seen immediately. */
const MIN_LOOK_MS = 200;
const RECOVER_MS = 2_000;
/** How long to wait after a failure of the log or the configuration. */
const PROBLEM_MS = 2_000;
/** Each attempt to run an agent that is not available adds events to the log, so they become rare. */
const FIRST_UNAVAILABLE_MS = 60_000;
const LAST_UNAVAILABLE_MS = 60 * 60_000;

interface RunningTask {
  readonly ending: AbortController;
  readonly done: Promise<void>;
  /** The call of `run` that started it. One process may have several. */
  readonly of: RunRequest;
}

/** Both in milliseconds; `at` is a time of the monotonic clock. */
interface RetryTime {
  readonly at: number;
  readonly waitMs: number;
}

type RunRequest = RunTasks & { readonly onProblem: (error: unknown) => void };

export class Scheduler {
  readonly #parts: PoolParts;
  readonly #repositories: Repositories;
  readonly #running = new Map<string, RunningTask>();
  /** Tasks whose agent this process cannot run, and when to try again. */
  readonly #unavailable = new Map<string, RetryTime>();
  #claims = 0;
  #recoverAt = 0;
  #merging: Promise<void> | undefined;
  /** When to try merges again whose remote was unreachable. */
  readonly #mergeRetries = new RetryTimes();
  #nudges = 0;
  /** By `performance.now()`. */
  #lookedAt = 0;
  readonly #wakes = new Set<() => void>();

  constructor(parts: PoolParts, repositories: Repositories) {
    this.#parts = parts;
    this.#repositories = repositories;
  }

  /** Looks for tasks now, because something changed. */
  nudge(): void {
    this.#nudges += 1;
    for (const wake of this.#wakes) wake();
  }

  /** Resolves when the task no longer runs in this process. */
  async stop(id: string): Promise<void> {
    const running = this.#running.get(id);
    running?.ending.abort(runStopped("stopped by the user"));
    await running?.done;
  }

  /** Rejects if the log was closed, or its file was deleted or replaced; any other problem is passed to `onProblem`. */
  async run({ onProblem = () => undefined, ...wanted }: RunTasks): Promise<void> {
    const own: RunRequest = { ...wanted, onProblem };
    const { only, signal, drain } = own;
    const ended = new AbortController();
    const watching = this.#watchTasks(ended.signal);
    try {
      while (!signal.aborted && !(drain?.aborted === true && this.#countRunning(own) === 0)) {
        const seen = this.#nudges;
        let restMs = LOOK_MS;
        try {
          if (await this.#hasEnded(only)) return;
          await this.#look(own);
        } catch (error) {
          if (isRookeryError(error, "store_closed") || isRookeryError(error, "store_replaced")) throw error;
          onProblem(error);
          restMs = PROBLEM_MS;
        }
        await this.#rest([signal, ...(drain === undefined ? [] : [drain])], seen, restMs);
      }
    } finally {
      ended.abort();
      const running = [...this.#running.values()].filter(({ of }) => of === own);
      for (const { ending } of running) ending.abort(runInterrupted());
      await Promise.all([...running.map(({ done }) => done), this.#merging, watching]);
    }
  }

  async #hasEnded(only: string | undefined): Promise<boolean> {
    if (only === undefined || this.#running.has(only)) return false;
    const state = await this.#parts.store.task(only);
    return state === undefined || isEnded(state) || this.#isUnavailable(only);
  }

  async #look(own: RunRequest): Promise<void> {
    const { signal } = own;
    this.#lookedAt = performance.now();
    await this.#recover(own);
    const maxRunning = await this.#parts.maxRunning();
    const isFull = () => this.#running.size >= maxRunning || this.#countRunning(own) >= (own.maxRunning ?? Infinity);
    while (!signal.aborted && own.drain?.aborted !== true && !isFull()) {
      const claimed = await this.#claim(maxRunning, own);
      if (claimed === undefined) return;
      this.#start(claimed, own);
    }
  }

  #countRunning(own: RunRequest): number {
    return Array.from(this.#running.values()).filter(({ of }) => of === own).length;
  }

  /** Does not wait for merges, so that other tasks can start meanwhile. */
  async #recover({ signal, onProblem }: RunRequest): Promise<void> {
    if (performance.now() < this.#recoverAt) return; // a monotonic clock: the system time may be set back
    this.#recoverAt = performance.now() + RECOVER_MS;
    const abandoned = await listAbandoned(this.#parts, (id) => this.#running.has(id));
    await requeueAbandoned(this.#parts, this.#repositories, abandoned);
    this.#merging ??= finishAbandonedMerges(this.#parts, this.#repositories, abandoned, signal, this.#mergeRetries)
      .catch(onProblem)
      .finally(() => {
        this.#merging = undefined;
      });
  }

  /** Checks for tasks when the log of a task has grown, at most every MIN_LOOK_MS. Never rejects. */
  async #watchTasks(signal: AbortSignal): Promise<void> {
    const onChange = async (): Promise<void> => {
      const restMs = this.#lookedAt + MIN_LOOK_MS - performance.now();
      if (restMs > 0) await sleep(restMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) this.nudge();
    };
    await watchWithRetry(() => this.#parts.store.watchTasks({ signal }), onChange, signal);
  }

  async #claim(
    maxRunning: number,
    { only, placement = () => plainPlacement(this.#parts.host, this.#parts.labels) }: RunRequest,
  ): Promise<ClaimedTask | undefined> {
    const { store, clock, host, leaseTiming = DEFAULT_LEASE_TIMING, maxRunningOnHost } = this.#parts;
    const rules = placement();
    const isHostFull =
      maxRunningOnHost === undefined ? () => false : await readHostLimit(store, { host, maxRunning: maxRunningOnHost });
    this.#claims += 1;
    const owner = `${this.#parts.claim()}/task-${this.#claims}`;
    try {
      return await store.claimTask({
        owner,
        now: clock.now(),
        until: clock.now() + leaseTiming.ttlMs,
        only,
        host,
        skip: [...this.#unavailable.keys()].filter((id) => this.#isUnavailable(id)),
        accepts: (state) => isOurTurn(state, rules, clock.now()),
        choose: (candidates, busy) =>
          isHostFull(busy)
            ? undefined
            : chooseNext(candidates, busy, maxRunning, (candidate) => canPlace(candidate, rules)),
      });
    } catch (error) {
      abandonLease(owner); // the store may have granted the lease
      throw error;
    }
  }

  #start(claimed: ClaimedTask, own: RunRequest): void {
    const { id } = claimed.state;
    const ending = new AbortController();
    const over = runTask(this.#parts, this.#repositories, claimed, ending)
      .then((end) => this.#noteAvailability(id, end))
      .catch((error: unknown) => {
        if (!isRookeryError(error, "lease_lost")) own.onProblem(error);
      })
      .finally(() => {
        this.#running.delete(id);
        this.nudge();
      });
    this.#running.set(id, { ending, done: over, of: own });
  }

  #noteAvailability(id: string, end: TaskEventBody): void {
    if (end.type !== "task.queued" || end.why !== "unavailable") return void this.#unavailable.delete(id);
    const before = this.#unavailable.get(id)?.waitMs;
    const waitMs = before === undefined ? FIRST_UNAVAILABLE_MS : Math.min(2 * before, LAST_UNAVAILABLE_MS);
    this.#unavailable.set(id, { at: performance.now() + waitMs, waitMs });
  }

  #isUnavailable(id: string): boolean {
    return performance.now() < (this.#unavailable.get(id)?.at ?? 0);
  }

  /** Returns immediately if something has changed since `seen`. */
  async #rest(signals: readonly AbortSignal[], seen: number, ms: number): Promise<void> {
    const rest = new AbortController();
    const wake = () => rest.abort();
    this.#wakes.add(wake);
    for (const signal of signals) signal.addEventListener("abort", wake, { once: true });
    const [stop] = signals;
    if (stop?.aborted === true || this.#nudges !== seen) wake();
    await sleep(ms, undefined, { signal: rest.signal }).catch(() => undefined);
    this.#wakes.delete(wake);
    for (const signal of signals) signal.removeEventListener("abort", wake);
  }
}
