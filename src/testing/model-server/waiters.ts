/** A list whose items can be awaited before they exist. */

export class Waiters<T> {
  readonly #items = new Map<number, PromiseWithResolversOf<T>>();
  #closed = false;

  at(index: number): Promise<T> {
    return this.#item(index).promise;
  }

  resolve(index: number, value: T): void {
    this.#item(index).resolve(value);
  }

  /** Rejects all current and future waits for items that never came. */
  close(): void {
    this.#closed = true;
    for (const item of this.#items.values()) item.reject(closedError());
  }

  #item(index: number): PromiseWithResolversOf<T> {
    const known = this.#items.get(index);
    if (known !== undefined) return known;
    const item = withResolvers<T>();
    this.#items.set(index, item);
    if (this.#closed) item.reject(closedError());
    return item;
  }
}

/** `Promise.withResolvers`, which Node 20 lacks. */
interface PromiseWithResolversOf<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

function withResolvers<T>(): PromiseWithResolversOf<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  // A test may await only one item; the rejections of the others must not count as unhandled.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

function closedError(): Error {
  return new Error("the model server was closed before this happened");
}
