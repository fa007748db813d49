/**
 * Watches of logs. A follower opens a watch before it reads, so that no commit after the read is missed: the watch keeps
 * what it was notified of until the follower waits.
 */
import type { LogKind } from "./admission.ts";

/** A log and its new head. */
export interface LogGrowth {
  readonly kind: LogKind;
  readonly id: string;
  readonly head: number;
}

/** The key of a log, for `LogWatches.open`. */
export function toWatchKey(kind: LogKind, id: string): string {
  return `${kind} ${id}`;
}

/** The key of the feed. Its watches are notified of every commit. */
export const FEED_KEY = "feed";
/** The key of the logs of all tasks. */
export const TASKS_KEY = "tasks";

/** Notified instead of a head if the log was deleted, or if only a read can tell what happened. */
export const UNKNOWN_HEAD = Infinity;

export interface WatchListener {
  /** A follower begins to wait. */
  onWait?(): void;
  /** A follower does not wait anymore. */
  onWake?(): void;
  /** The last watch was closed. */
  onEmpty?(): void;
}

export class LogWatches {
  readonly #listener: WatchListener;
  readonly #byKey = new Map<string, Set<LogWatch>>();
  #waiting = 0;
  #keepingAlive = 0;

  constructor(listener: WatchListener = {}) {
    this.#listener = listener;
  }

  /** True if there are no watches. */
  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /** True if a follower waits. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** True if a follower waits that must keep the process alive. */
  get keepsProcessAlive(): boolean {
    return this.#keepingAlive > 0;
  }

  /** The caller must close the watch. `keepsAlive`: whether waiting keeps the process alive. Default: true. */
  open(key: string, { keepsAlive = true } = {}): LogWatch {
    const watches = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, watches);
    const count = (change: number): void => {
      this.#waiting += change;
      if (keepsAlive) this.#keepingAlive += change;
    };
    const watch = new LogWatch({
      onWait: () => {
        count(1);
        this.#listener.onWait?.();
      },
      onWake: () => {
        count(-1);
        this.#listener.onWake?.();
      },
      onClose: () => {
        watches.delete(watch);
        if (watches.size === 0 && this.#byKey.get(key) === watches) this.#byKey.delete(key);
        if (this.isEmpty) this.#listener.onEmpty?.();
      },
    });
    watches.add(watch);
    return watch;
  }

  notifyGrown(logs: readonly LogGrowth[]): void {
    if (logs.length === 0 || this.isEmpty) return;
    for (const { kind, id, head } of logs) this.#notify(toWatchKey(kind, id), head);
    if (logs.some(({ kind }) => kind === "task")) this.#notify(TASKS_KEY, UNKNOWN_HEAD);
    this.#notify(FEED_KEY, UNKNOWN_HEAD);
  }

  /**
   * Like `notifyGrown`, for heads that anyone may have sent: a follower that does not know such a head yet reads the log
   * instead of believing it. A head that is too large would make it ignore everything that comes before.
   */
  notifyMaybeGrown(logs: readonly LogGrowth[]): void {
    if (logs.length === 0 || this.isEmpty) return;
    for (const { kind, id, head } of logs) {
      for (const watch of [...(this.#byKey.get(toWatchKey(kind, id)) ?? [])]) watch.suggest(head);
    }
    if (logs.some(({ kind }) => kind === "task")) this.#notify(TASKS_KEY, UNKNOWN_HEAD);
    this.#notify(FEED_KEY, UNKNOWN_HEAD);
  }

  notifyDeleted(sessionId: string): void {
    this.#notify(toWatchKey("session", sessionId), UNKNOWN_HEAD);
  }

  /** Makes every follower read its log again. */
  wakeAll(): void {
    for (const key of [...this.#byKey.keys()]) this.#notify(key, UNKNOWN_HEAD);
  }

  #notify(key: string, head: number): void {
    const watches = this.#byKey.get(key);
    if (watches !== undefined) for (const watch of [...watches]) watch.notify(head);
  }
}

interface WatchHooks {
  onWait(): void;
  onWake(): void;
  onClose(): void;
}

export class LogWatch implements Disposable {
  /** Resolves when the watch notices every later commit. Undefined if it has done so since it was opened. */
  ready: Promise<void> | undefined;
  readonly #hooks: WatchHooks;
  /** The largest head that no wait has returned yet. */
  #notified = 0;
  #after = 0;
  #wake: (() => void) | undefined;

  constructor(hooks: WatchHooks) {
    this.#hooks = hooks;
  }

  /**
   * Resolves with the head when it may be larger than `after`; or with UNKNOWN_HEAD, or with 0 if the signal fires. Each
   * notification ends one wait, even if the log has nothing new. One wait at a time.
   */
  wait(after: number, signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.resolve(0);
    this.#after = after;
    if (this.#notified > after) return Promise.resolve(this.#takeNotified());
    return new Promise((resolve) => {
      this.#wake = () => {
        signal.removeEventListener("abort", abort);
        this.#wake = undefined;
        this.#hooks.onWake();
        resolve(signal.aborted ? 0 : this.#takeNotified());
      };
      const abort = () => this.#wake?.();
      signal.addEventListener("abort", abort);
      this.#hooks.onWait();
    });
  }

  notify(head: number): void {
    this.#notified = Math.max(this.#notified, head);
    if (head > this.#after) this.#wake?.();
  }

  /** Notifies of UNKNOWN_HEAD if the head is new. */
  suggest(head: number): void {
    if (head > Math.max(this.#after, this.#notified)) this.notify(UNKNOWN_HEAD);
  }

  [Symbol.dispose](): void {
    this.#hooks.onClose();
  }

  #takeNotified(): number {
    const head = this.#notified;
    this.#notified = 0;
    return head;
  }
}
