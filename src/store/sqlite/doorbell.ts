/** Tells processes apart from this one that something was committed: a file that writers touch and followers watch. */
import { closeSync, constants, openSync, watch, writeSync, type FSWatcher } from "node:fs";

/** Where watching works, polling is only there for what the watch may miss. */
const POLL_WATCHED_MS = 100;
/** Where it does not (a network file system, no inotify handles left), polling is all there is. */
const POLL_UNWATCHED_MS = 10;

export class Doorbell {
  readonly #path: string;
  #fd: number | undefined;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** A bell that cannot be rung costs followers elsewhere up to a poll, and the writer nothing. */
  ring(): void {
    try {
      writeSync(this.#file(), "!", 0);
    } catch {
      this.#forgetFile();
    }
  }

  /** Calls back when a bell may have rung, with or without cause, until `rest`. Keeps the process alive meanwhile. */
  listen(onRing: () => void): void {
    this.#watcher ??= this.#watch(onRing);
    this.#timer ??= setInterval(onRing, this.#watcher === undefined ? POLL_UNWATCHED_MS : POLL_WATCHED_MS);
  }

  /** Nobody waits now: no timer runs. The watch stays, for whoever follows is likely to wait again. */
  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Nobody follows any more. */
  ignore(): void {
    this.rest();
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  close(): void {
    this.ignore();
    this.#forgetFile();
  }

  #watch(onRing: () => void): FSWatcher | undefined {
    try {
      this.#file();
      const watcher = watch(this.#path, { persistent: false });
      watcher.on("change", (what) => {
        if (what === "rename") this.#lost(watcher); // someone removed the file
        onRing();
      });
      watcher.on("error", () => this.#lost(watcher));
      return watcher;
    } catch {
      return undefined;
    }
  }

  /** Those who wait already have the slow poll; the next to wait watches anew. */
  #lost(watcher: FSWatcher): void {
    watcher.close();
    if (this.#watcher === watcher) this.#watcher = undefined;
    this.#forgetFile();
  }

  #file(): number {
    return (this.#fd ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600));
  }

  #forgetFile(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
