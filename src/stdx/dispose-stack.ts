/** Disposes of resources in reverse order. Stands in for `AsyncDisposableStack`, which Node 20 lacks. */

export class DisposeStack implements AsyncDisposable {
  #undo: (() => unknown)[] = [];

  /** Takes ownership of a resource and returns it. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T {
    this.defer(() => (Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose]()));
    return resource;
  }

  /** Runs `undo` on disposal. */
  defer(undo: () => unknown): void {
    this.#undo.push(undo);
  }

  /** Moves every resource to a new stack. Disposing of this one then does nothing. */
  move(): DisposeStack {
    const next = new DisposeStack();
    next.#undo = this.#undo;
    this.#undo = [];
    return next;
  }

  /** Disposes of every resource even if one throws, then throws their errors. A second call does nothing. */
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
    if (failures.length > 1) throw new AggregateError(failures, "several resources could not be closed");
  }
}
