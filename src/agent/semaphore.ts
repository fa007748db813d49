/** Limits how many holders run concurrently. Others wait in the order in which they came. */
import { deferred, type Deferred } from "../stdx/index.ts";

export class Semaphore {
  readonly #waiting: Deferred<void>[] = [];
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Resolves with a slot; dispose it to release the slot. Rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#waitForSlot(signal);
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (held) this.#release();
        held = false;
      },
    };
  }

  async #waitForSlot(signal: AbortSignal): Promise<void> {
    const waiter = deferred();
    this.#waiting.push(waiter);
    const leave = (): void => {
      const at = this.#waiting.indexOf(waiter);
      if (at === -1) return; // it already has a slot
      this.#waiting.splice(at, 1);
      waiter.reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    await waiter.promise.finally(() => signal.removeEventListener("abort", leave));
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next.resolve();
  }
}
