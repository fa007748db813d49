/** Takes tasks as limits allow, runs them side by side, and notices what other processes ask. */
import { setTimeout as sleep } from "node:timers/promises";
import { isEnded, isRookeryError, type ClaimedTask } from "../domain/index.ts";
import { DEFAULT_LEASE_TIMING, abandonLease } from "../session/index.ts";
import { chooseNext } from "./choose.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import { interrupted, stopped } from "./reasons.ts";
import { finishMerges, requeueLeft } from "./recover.ts";
import { runTask } from "./run.ts";

export interface RunTasks {
  /** Resolves when this task has ended; without it, when the signal fires. */
  readonly only?: string | undefined;
  readonly signal: AbortSignal;
  /** Told what went wrong around the tasks: a log that could not be written for a moment. */
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

/** What other processes give, stop or finish is seen then; what this one does, at once. */
const LOOK_MS = 200;
const RECOVER_MS = 2_000;
/** What is wrong with the log or the configuration is seldom over in less. */
const PROBLEM_MS = 2_000;

interface Running {
  readonly ending: AbortController;
  readonly over: Promise<void>;
  /** Whose it is: several may run tasks in one process. */
  readonly of: Wanted;
}

type Wanted = RunTasks & { readonly onProblem: (error: unknown) => void };

export class Scheduler {
  readonly #parts: PoolParts;
  readonly #repositories: Repositories;
  readonly #running = new Map<string, Running>();
  #claims = 0;
  #recoverAt = 0;
  #merging: Promise<void> | undefined;
  #nudges = 0;
  readonly #wakes = new Set<() => void>();

  constructor(parts: PoolParts, repositories: Repositories) {
    this.#parts = parts;
    this.#repositories = repositories;
  }

  /** Something changed: look now. */
  nudge(): void {
    this.#nudges += 1;
    for (const wake of this.#wakes) wake();
  }

  /** Resolves when it runs no more; at once where it does not run here. */
  async stop(id: string): Promise<void> {
    const running = this.#running.get(id);
    running?.ending.abort(stopped("stopped by a person"));
    await running?.over;
  }

  /** Rejects if the log was closed, or its file was deleted or replaced; any other problem is passed to `onProblem`. */
  async run({ onProblem = () => undefined, ...wanted }: RunTasks): Promise<void> {
    const own: Wanted = { ...wanted, onProblem };
    const { only, signal } = own;
    try {
      while (!signal.aborted) {
        const seen = this.#nudges;
        let restMs = LOOK_MS;
        try {
          if (await this.#isOver(only)) return;
          await this.#look(own);
        } catch (error) {
          if (isRookeryError(error, "store_closed") || isRookeryError(error, "store_replaced")) throw error;
          onProblem(error);
          restMs = PROBLEM_MS;
        }
        await this.#rest(signal, seen, restMs);
      }
    } finally {
      const running = [...this.#running.values()].filter(({ of }) => of === own);
      for (const { ending } of running) ending.abort(interrupted());
      await Promise.all([...running.map(({ over }) => over), this.#merging]);
    }
  }

  async #isOver(only: string | undefined): Promise<boolean> {
    if (only === undefined || this.#running.has(only)) return false;
    const state = await this.#parts.store.task(only);
    return state === undefined || isEnded(state);
  }

  async #look(own: Wanted): Promise<void> {
    const { only, signal } = own;
    await this.#recover(own);
    await this.#heedStops();
    const maxRunning = await this.#parts.maxRunning();
    while (!signal.aborted && this.#running.size < maxRunning) {
      const claimed = await this.#claim(maxRunning, only);
      if (claimed === undefined) return;
      this.#start(claimed, own);
    }
  }

  /** Merging takes its time, and keeps nobody from starting meanwhile. */
  async #recover({ signal, onProblem }: Wanted): Promise<void> {
    if (performance.now() < this.#recoverAt) return; // never by the clock of the day, which may be set back
    this.#recoverAt = performance.now() + RECOVER_MS;
    await requeueLeft(this.#parts, this.#repositories, (id) => this.#running.has(id));
    this.#merging ??= finishMerges(this.#parts, this.#repositories, signal)
      .catch(onProblem)
      .finally(() => {
        this.#merging = undefined;
      });
  }

  async #heedStops(): Promise<void> {
    for (const [id, { ending }] of this.#running) {
      const state = await this.#parts.store.task(id);
      if (state?.stopAsked === true) ending.abort(stopped("stopped by a person"));
    }
  }

  async #claim(maxRunning: number, only: string | undefined): Promise<ClaimedTask | undefined> {
    const { store, clock, leaseTiming = DEFAULT_LEASE_TIMING } = this.#parts;
    this.#claims += 1;
    const owner = `${this.#parts.claim()}/task-${this.#claims}`;
    try {
      return await store.claimTask({
        owner,
        now: clock.now(),
        until: clock.now() + leaseTiming.ttlMs,
        only,
        choose: (candidates, busy) => chooseNext(candidates, busy, maxRunning),
      });
    } catch (error) {
      abandonLease(owner); // the store may have granted it
      throw error;
    }
  }

  #start(claimed: ClaimedTask, own: Wanted): void {
    const { id } = claimed.state;
    const ending = new AbortController();
    const over = runTask(this.#parts, this.#repositories, claimed, ending)
      .catch((error: unknown) => {
        if (!isRookeryError(error, "lease_lost")) own.onProblem(error);
      })
      .finally(() => {
        this.#running.delete(id);
        this.nudge();
      });
    this.#running.set(id, { ending, over, of: own });
  }

  /** Not at all where something has changed since `seen`. */
  async #rest(signal: AbortSignal, seen: number, ms: number): Promise<void> {
    const rest = new AbortController();
    const wake = () => rest.abort();
    this.#wakes.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted || this.#nudges !== seen) wake();
    await sleep(ms, undefined, { signal: rest.signal }).catch(() => undefined);
    this.#wakes.delete(wake);
    signal.removeEventListener("abort", wake);
  }
}
