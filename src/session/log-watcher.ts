/** Notices events that other processes append to the log of a session that this process drives. */
import type { SessionStore } from "../domain/index.ts";
import type { Recorder } from "./recorder.ts";

/** How often the head of the log is read. */
const WATCH_MS = 250;

export interface LogWatcherOptions {
  readonly store: SessionStore;
  readonly recorder: Recorder;
  readonly everyMs?: number | undefined;
}

export interface LogWatcher extends Disposable {
  /** Whether the timer keeps the process alive. Initially it does not. */
  hold(on: boolean): void;
}

/** Polls the head of the log, because no append of ours reveals foreign events while the agent is silent. */
export function watchForeignEvents({ store, recorder, everyMs = WATCH_MS }: LogWatcherOptions): LogWatcher {
  let isReading = false;
  const readHead = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    try {
      const { id, head } = recorder.state;
      const summary = await store.summary(id);
      if (summary !== undefined && summary.head > head) await recorder.catchUp();
    } catch {
      // the next append reports the problem
    } finally {
      isReading = false;
    }
  };
  const timer = setInterval(() => void readHead(), everyMs).unref();
  return {
    hold: (on) => {
      if (on) timer.ref();
      else timer.unref();
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
