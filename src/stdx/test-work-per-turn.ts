/** Counts how much work is done in one turn of the event loop. */
export class WorkPerTurn implements Disposable {
  /** The most work in one turn. */
  max = 0;
  #inThisTurn = 0;
  #next = setImmediate(() => this.#turn());

  /** Does one item of work. Takes 0.1 ms on every machine, so the number of items per slice is known. */
  work(): void {
    this.#inThisTurn += 1;
    this.max = Math.max(this.max, this.#inThisTurn);
    for (const until = performance.now() + 0.1; performance.now() < until;);
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#next);
  }

  #turn(): void {
    this.#inThisTurn = 0;
    this.#next = setImmediate(() => this.#turn());
  }
}
