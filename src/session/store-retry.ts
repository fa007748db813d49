/** Retries store calls that fail with a transient error: a full disk, a lock of another process, an I/O error. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  isRookeryError,
  type ErrorCode,
  type FollowQuery,
  type SessionEvent,
  type SessionStore,
} from "../domain/index.ts";

/** How long a store call is retried before it fails, in milliseconds. */
const STORE_TIMEOUT_MS = 30_000;
/** The same for a full or read-only disk. Shorter, because a person has to fix it and should know soon. */
const DISK_TIMEOUT_MS = 5_000;
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1_000;
/** How many consecutive failures, about a second apart, a follower tolerates before its iteration throws. */
const MAX_FOLLOW_FAILURES = 30;

const TRANSIENT: readonly ErrorCode[] = ["store_locked", "store_full", "store_readonly", "store_unavailable"];

/** True if the same call may succeed later. */
export function isTransientFailure(error: unknown): boolean {
  return isRookeryError(error) && TRANSIENT.includes(error.code);
}

/** How long a call with this error is retried, in milliseconds. */
export function retryTimeoutFor(error: unknown): number {
  const isDisk = isRookeryError(error, "store_full") || isRookeryError(error, "store_readonly");
  return isDisk ? DISK_TIMEOUT_MS : STORE_TIMEOUT_MS;
}

/**
 * How long to wait before attempt `attempt` + 1, in milliseconds. Random, so that processes do not retry at the same
 * moment.
 */
export function retryPause(attempt: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10), MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
}

export interface RetryOptions {
  /** How long to retry, in milliseconds. Default: 30 s, or 5 s if the disk is full or read-only. */
  readonly patienceMs?: number | undefined;
  /** Stops the retries; the last error is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `work` until it succeeds, fails with an error that is not transient, or the time is over. Throws the last
 * error.
 */
export async function retryStore<T>(work: () => Promise<T>, { patienceMs, signal }: RetryOptions = {}): Promise<T> {
  const started = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isTimedOut = performance.now() - started >= (patienceMs ?? retryTimeoutFor(error));
      if (!isTransientFailure(error) || signal?.aborted === true || isTimedOut) throw error;
    }
    await sleep(retryPause(attempt), undefined, { signal }).catch(() => undefined);
  }
}

/** Like `SessionStore.follow`, but a transient failure only delays the reader and loses no event. */
export async function* followWithRetry(
  store: Pick<SessionStore, "follow">,
  { sessionId, after, signal }: FollowQuery,
): AsyncGenerator<SessionEvent, undefined> {
  let cursor = after;
  for (let failures = 0; ;) {
    const started = performance.now();
    try {
      for await (const event of store.follow({ sessionId, after: cursor, signal })) {
        failures = 0;
        cursor = event.seq;
        yield event;
      }
      return undefined;
    } catch (error) {
      if (performance.now() - started > 2 * STORE_TIMEOUT_MS) failures = 0; // it worked for a long time before this failure
      failures += 1;
      if (!isTransientFailure(error) || failures > MAX_FOLLOW_FAILURES) throw error;
    }
    await sleep(retryPause(failures + 5), undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Calls `onChange` with each head or change that `watch` yields, and watches again after a failure. Resolves when the log
 * is deleted, the store is closed or the signal fires. Never rejects: writers report problems of the store.
 */
export async function watchWithRetry<Change>(
  watch: () => AsyncIterable<Change>,
  onChange: (change: Change) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      for await (const change of watch()) {
        await onChange(change);
        failures = 0;
      }
      return;
    } catch {
      await sleep(retryPause(failures), undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
