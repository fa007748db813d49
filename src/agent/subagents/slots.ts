/** Places for so many at once; the others wait for one, in the order in which they came. */
import { deferred, type Deferred } from "../../stdx/index.ts";

export class Slots {
  readonly #waiting: Deferred<void>[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Rejects with the signal's reason. What it resolves with gives the place back. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (held) this.#release();
        held = false;
      },
    };
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const place = deferred();
    this.#waiting.push(place);
    const leave = (): void => {
      const at = this.#waiting.indexOf(place);
      if (at === -1) return; // has it already
      this.#waiting.splice(at, 1);
      place.reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    await place.promise.finally(() => signal.removeEventListener("abort", leave));
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next.resolve();
  }
}
