/** How much somebody may do: so much at once, and so much more a second after that. */

export interface AllowanceOptions {
  readonly atOnce: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly now?: () => number;
}

export class Allowance {
  readonly #options: Required<AllowanceOptions>;
  #left: number;
  #filledAt: number;

  constructor({ now = () => performance.now(), ...rates }: AllowanceOptions) {
    this.#options = { now, ...rates };
    this.#left = rates.atOnce;
    this.#filledAt = now();
  }

  /** False where it is too much for now; nothing is taken then. */
  take(amount = 1): boolean {
    const { atOnce, perSecond, now } = this.#options;
    const at = now();
    this.#left = Math.min(atOnce, this.#left + ((at - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = at;
    if (amount > this.#left) return false;
    this.#left -= amount;
    return true;
  }
}
