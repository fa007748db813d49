/** Notices events that other processes append to the log of a session that this process drives. */
import type { SessionStore } from "../domain/index.ts";
import type { Recorder } from "./recorder.ts";
import { watchWithRetry } from "./store-retry.ts";

export interface LogWatcherOptions {
  readonly store: SessionStore;
  readonly recorder: Recorder;
}

export interface LogWatcher extends Disposable {
  /** Whether watching keeps the process alive. Initially it does not. */
  hold(on: boolean): void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Watches the log, because while the agent is silent this process appends nothing and would not notice foreign events.
 */
export function watchForeignEvents({ store, recorder }: LogWatcherOptions): LogWatcher {
  const stop = new AbortController();
  const timer = setInterval(() => undefined, LONGEST_TIMER_MS).unref();
  const { signal } = stop;
  const watch = () => store.watchHead({ sessionId: recorder.state.id, after: recorder.state.head, signal });
  void watchWithRetry(watch, (head) => recorder.catchUpTo(head), signal);
  return {
    hold: (on) => {
      if (on) timer.ref();
      else timer.unref();
    },
    [Symbol.dispose]: () => {
      clearInterval(timer);
      stop.abort();
    },
  };
}
