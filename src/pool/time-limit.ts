/** A pausable time limit for a run. */

/** The longest delay of a Node timer, about 24 days. A longer limit is only checked when the run restarts. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class TimeLimit implements Disposable {
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  readonly #end: () => void;

  /** Undefined means no limit. */
  constructor(leftMs: number | undefined, end: () => void) {
    this.#end = end;
    this.#start(leftMs);
  }

  /** Stops the timer until `resume`. The caller enforces the limit meanwhile. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  resume(leftSeconds: number | undefined): void {
    this.#start(leftSeconds === undefined ? undefined : leftSeconds * 1000);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #start(leftMs: number | undefined): void {
    if (this.#isOver || leftMs === undefined || leftMs > MAX_TIMER_MS) return;
    this.#timer = setTimeout(this.#end, leftMs);
  }
}
