/** Notices what other processes append to the log of a session that this one drives. */
import type { SessionStore } from "../domain/index.ts";
import type { Recorder } from "./recorder.ts";

/** How often it is looked whether the log has grown. */
const WATCH_MS = 250;

export interface LogWatcherOptions {
  readonly store: SessionStore;
  readonly recorder: Recorder;
  readonly everyMs?: number | undefined;
}

export interface LogWatcher extends Disposable {
  /** Does it keep the process alive? Not while nothing runs. */
  hold(on: boolean): void;
}

/** An agent may be silent for long, and then no append of ours would find out that the log has grown. */
export function watchForeignEvents({ store, recorder, everyMs = WATCH_MS }: LogWatcherOptions): LogWatcher {
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      const { id, head } = recorder.state;
      const summary = await store.summary(id);
      if (summary !== undefined && summary.head > head) await recorder.catchUp();
    } catch {
      // whatever is wrong, the next append tells
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), everyMs).unref();
  return {
    hold: (on) => {
      if (on) timer.ref();
      else timer.unref();
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
