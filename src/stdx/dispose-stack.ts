/** Undoes what was done, last first, unless it was moved to a new owner: what Node 20 lacks of AsyncDisposableStack. */

export class DisposeStack implements AsyncDisposable {
  #undo: (() => unknown)[] = [];

  /** Takes ownership of a resource and gives it back for use. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T {
    this.defer(() => (Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose]()));
    return resource;
  }

  defer(undo: () => unknown): void {
    this.#undo.push(undo);
  }

  /** Hands everything to a new stack; this one is empty afterwards and undoes nothing. */
  move(): DisposeStack {
    const next = new DisposeStack();
    next.#undo = this.#undo;
    this.#undo = [];
    return next;
  }

  /** Runs every step although one throws, and throws what they threw. A second call finds nothing to do. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) {
      try {
        await undo();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, "several things could not be closed");
  }
}
