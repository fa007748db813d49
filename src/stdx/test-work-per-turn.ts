/** Counts how much work is done in one turn of the event loop. */
export class WorkPerTurn implements Disposable {
  /** In the turn that had the most. */
  most = 0;
  #inThisTurn = 0;
  #next = setImmediate(() => this.#turn());

  /** One item of work. Takes 0.1 ms, so that it does not depend on the machine how many fit into a slice. */
  work(): void {
    this.#inThisTurn += 1;
    this.most = Math.max(this.most, this.#inThisTurn);
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
