/** Lists again after a change notification: soon, one run at a time, and always after the last change. */

/** Debounce time for several changes in a row. */
const SETTLE_MS = 50;

export class Refresh {
  readonly #run: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #isDue = false;
  #isStopped = false;

  /** `run` must not reject. */
  constructor(run: () => Promise<void>) {
    this.#run = run;
  }

  request(): void {
    if (this.#isStopped) return;
    this.#isDue = true;
    if (!this.#isRunning) this.#timer ??= setTimeout(() => void this.#go(), SETTLE_MS);
  }

  /** Runs immediately unless a run is in progress. Resolves when the run is done. */
  async now(): Promise<void> {
    if (!this.#isStopped && !this.#isRunning) await this.#go();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #go(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isRunning = true;
    this.#isDue = false;
    await this.#run();
    this.#isRunning = false;
    if (this.#isDue) this.request();
  }
}
