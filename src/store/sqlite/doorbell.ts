/** Notifies other processes about commits, through a file that writers touch and followers watch. */
import { closeSync, constants, openSync, watch, writeSync, type FSWatcher } from "node:fs";

/** Poll interval while a file watch is active, for events that the watch may miss. */
const POLL_WATCHED_MS = 100;
/** Poll interval if the file cannot be watched, such as on a network file system or without free inotify handles. */
const POLL_UNWATCHED_MS = 10;

export class Doorbell {
  readonly #path: string;
  #fd: number | undefined;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Never throws. If the write fails, followers in other processes notice the commit with their next poll. */
  ring(): void {
    try {
      writeSync(this.#openFile(), "!", 0);
    } catch {
      this.#closeFile();
    }
  }

  /** Calls `onRing` when there may be a commit, until `stopPolling`. Spurious calls happen. */
  listen(onRing: () => void): void {
    this.#watcher ??= this.#watch(onRing);
    this.#timer ??= setInterval(onRing, this.#watcher === undefined ? POLL_UNWATCHED_MS : POLL_WATCHED_MS);
  }

  /** Whether the timer keeps the process alive. */
  keepAlive(on: boolean): void {
    if (on) this.#timer?.ref();
    else this.#timer?.unref();
  }

  /** Stops the timer. Keeps the file watch, because followers are likely to wait again. */
  stopPolling(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Stops the timer and the file watch. Call this when the last follower has left. */
  stopWatching(): void {
    this.stopPolling();
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  close(): void {
    this.stopWatching();
    this.#closeFile();
  }

  #watch(onRing: () => void): FSWatcher | undefined {
    try {
      this.#openFile();
      const watcher = watch(this.#path, { persistent: false });
      watcher.on("change", (eventType) => {
        if (eventType === "rename") this.#closeWatch(watcher); // the file was removed
        onRing();
      });
      watcher.on("error", () => this.#closeWatch(watcher));
      return watcher;
    } catch {
      return undefined;
    }
  }

  /** Current waiters keep polling. The next call of `listen` opens a new watch. */
  #closeWatch(watcher: FSWatcher): void {
    watcher.close();
    if (this.#watcher === watcher) this.#watcher = undefined;
    this.#closeFile();
  }

  #openFile(): number {
    return (this.#fd ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600));
  }

  #closeFile(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
