/**
 * Runs work between two turns, such as a switch of the agent. Work that is scheduled during a turn waits for its end.
 */
import { RookeryError } from "../domain/index.ts";
import { deferred, type Deferred } from "../stdx/index.ts";

/** At most one piece of work of each kind waits: a later one replaces an earlier one. */
export type WorkKind = "settings" | "conversation";

interface ScheduledWork {
  readonly work: () => Promise<void>;
  readonly settled: Deferred<void>;
}

const REPLACED_MESSAGES: Record<WorkKind, string> = {
  settings: "a later change of the session's settings replaced this one before it started",
  conversation: "a later conversation replaced this one before it was recorded",
};

export interface DeferredWorkOptions {
  /** True while something else must finish first. */
  readonly isBusy: () => boolean;
  /** Called after each piece of work, even if it failed. */
  readonly onFinished: () => void;
}

export class DeferredWork {
  readonly #options: DeferredWorkOptions;
  readonly #scheduled = new Map<WorkKind, ScheduledWork>();
  #current: { readonly kind: WorkKind; readonly done: Promise<void> } | undefined;

  constructor(options: DeferredWorkOptions) {
    this.#options = options;
  }

  /** True while work runs. */
  get isRunning(): boolean {
    return this.#current !== undefined;
  }

  /** Resolves when the current work has finished, even if it failed. */
  async finished(): Promise<void> {
    await this.#current?.done;
  }

  /** Resolves when no work of this kind runs or waits. */
  async settled(kind: WorkKind): Promise<void> {
    while (this.#scheduled.has(kind) || this.#current?.kind === kind) {
      const waiting = this.#scheduled.get(kind)?.settled.promise ?? this.#current?.done;
      await waiting?.catch(() => undefined);
    }
  }

  /** Settles with the work. Rejects with `interrupted` if later work of the same kind replaces it before it starts. */
  schedule(kind: WorkKind, work: () => Promise<void>): Promise<void> {
    this.withdraw(kind);
    const settled = deferred();
    this.#scheduled.set(kind, { work, settled });
    this.runNext();
    return settled.promise;
  }

  /** Discards the waiting work of this kind. */
  withdraw(kind: WorkKind): void {
    this.#reject(
      kind,
      new RookeryError("interrupted", `${REPLACED_MESSAGES[kind]}: only the last request takes effect`),
    );
  }

  /** Starts the next work unless something else runs. Call it when a turn or other work has finished. */
  runNext(): void {
    const [next] = this.#scheduled;
    if (next === undefined || this.#current !== undefined || this.#options.isBusy()) return;
    const [kind, { work, settled }] = next;
    this.#scheduled.delete(kind);
    const done = work()
      .then(
        () => settled.resolve(),
        (error: unknown) => settled.reject(error),
      )
      .finally(() => {
        this.#current = undefined;
        this.#options.onFinished();
      });
    this.#current = { kind, done };
  }

  /** Rejects all waiting work, and starts none anymore. */
  close(reason: RookeryError): void {
    for (const kind of this.#scheduled.keys()) this.#reject(kind, reason);
  }

  #reject(kind: WorkKind, reason: RookeryError): void {
    const work = this.#scheduled.get(kind);
    this.#scheduled.delete(kind);
    work?.settled.reject(reason);
  }
}
