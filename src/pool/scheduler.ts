/** Takes tasks as limits allow, runs them side by side, and notices what other processes ask. */
import { setTimeout as sleep } from "node:timers/promises";
import { isEnded, isRookeryError, type ClaimedTask } from "../domain/index.ts";
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

const LEASE_MS = 30_000;
/** What other processes give, stop or finish is seen then; what this one does, at once. */
const LOOK_MS = 200;
const RECOVER_MS = 2_000;

interface Running {
  readonly ending: AbortController;
  readonly over: Promise<void>;
}

export class Scheduler {
  readonly #parts: PoolParts;
  readonly #repositories: Repositories;
  readonly #running = new Map<string, Running>();
  #claims = 0;
  #recoverAt = 0;
  #merging: Promise<void> | undefined;
  #isNudged = false;
  #wake: () => void = () => undefined;

  constructor(parts: PoolParts, repositories: Repositories) {
    this.#parts = parts;
    this.#repositories = repositories;
  }

  /** Something changed: look now. */
  nudge(): void {
    this.#isNudged = true;
    this.#wake();
  }

  /** Resolves when it runs no more; at once where it does not run here. */
  async stop(id: string): Promise<void> {
    const running = this.#running.get(id);
    running?.ending.abort(stopped("stopped by a person"));
    await running?.over;
  }

  /** One at a time. */
  async run({ only, signal, onProblem = () => undefined }: RunTasks): Promise<void> {
    try {
      while (!signal.aborted && !(await this.#isOver(only))) {
        await this.#look(only, signal, onProblem).catch(onProblem);
        await this.#rest(signal);
      }
    } finally {
      const running = [...this.#running.values()];
      for (const { ending } of running) ending.abort(interrupted());
      await Promise.all([...running.map(({ over }) => over), this.#merging]);
    }
  }

  async #isOver(only: string | undefined): Promise<boolean> {
    if (only === undefined || this.#running.has(only)) return false;
    const state = await this.#parts.store.task(only);
    return state === undefined || isEnded(state);
  }

  async #look(only: string | undefined, signal: AbortSignal, onProblem: (error: unknown) => void): Promise<void> {
    await this.#recover(signal, onProblem);
    await this.#heedStops();
    const maxRunning = await this.#parts.maxRunning();
    while (!signal.aborted && this.#running.size < maxRunning) {
      const claimed = await this.#claim(maxRunning, only);
      if (claimed === undefined) return;
      this.#start(claimed, onProblem);
    }
  }

  /** Merging takes its time, and keeps nobody from starting meanwhile. */
  async #recover(signal: AbortSignal, onProblem: (error: unknown) => void): Promise<void> {
    const { clock } = this.#parts;
    if (clock.now() < this.#recoverAt) return;
    this.#recoverAt = clock.now() + RECOVER_MS;
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

  #claim(maxRunning: number, only: string | undefined): Promise<ClaimedTask | undefined> {
    const { store, clock } = this.#parts;
    this.#claims += 1;
    return store.claimTask({
      owner: `${this.#parts.claim()}/task-${this.#claims}`,
      now: clock.now(),
      until: clock.now() + LEASE_MS,
      only,
      choose: (candidates, busy) => chooseNext(candidates, busy, maxRunning),
    });
  }

  #start(claimed: ClaimedTask, onProblem: (error: unknown) => void): void {
    const { id } = claimed.state;
    const ending = new AbortController();
    const over = runTask(this.#parts, this.#repositories, claimed, ending)
      .catch((error: unknown) => {
        if (!isRookeryError(error, "lease_lost")) onProblem(error);
      })
      .finally(() => {
        this.#running.delete(id);
        this.nudge();
      });
    this.#running.set(id, { ending, over });
  }

  async #rest(signal: AbortSignal): Promise<void> {
    const rest = new AbortController();
    const wake = () => rest.abort();
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted || this.#isNudged) wake();
    await sleep(LOOK_MS, undefined, { signal: rest.signal }).catch(() => undefined);
    this.#isNudged = false;
    signal.removeEventListener("abort", wake);
  }
}
