/** The time that a run may take: what happens when it is over, and how it stands still. */

/** Node takes none above it. A run of more than three weeks is looked at again when it is next begun. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class TimeLimit implements Disposable {
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  readonly #end: () => void;

  /** Undefined: it has no end. */
  constructor(leftMs: number | undefined, end: () => void) {
    this.#end = end;
    this.#start(leftMs);
  }

  /** Until it goes on, whoever holds it sees to the time. */
  hold(): void {
    clearTimeout(this.#timer);
  }

  goOn(leftSeconds: number | undefined): void {
    this.#start(leftSeconds === undefined ? undefined : leftSeconds * 1000);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #start(leftMs: number | undefined): void {
    if (this.#isOver || leftMs === undefined || leftMs > LONGEST_TIMER_MS) return;
    this.#timer = setTimeout(this.#end, leftMs);
  }
}
