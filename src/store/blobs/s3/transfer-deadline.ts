/** Ends a transfer that does not start or is too slow, even if single bytes keep arriving. */

export interface TransferLimits {
  /** How long a transfer may take in addition to the time for its bytes, in milliseconds. */
  readonly startMs: number;
  /** A transfer that is slower is ended. */
  readonly bytesPerSecond: number;
}

/** A signal that fires when the transfer is late: each byte that is sent or received extends the deadline a little. */
export class TransferDeadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #limits: TransferLimits;
  /** A field, because Node 20 holds the signals of `any` weakly. */
  readonly #time = new AbortController();
  readonly #started = performance.now();
  readonly #sent: number;
  #received = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: TransferLimits, signal: AbortSignal, sent = 0) {
    this.#limits = limits;
    this.#sent = sent;
    this.signal = AbortSignal.any([this.#time.signal, signal]);
    this.#schedule();
  }

  /** Whether the time is up, as opposed to the other signal having fired. */
  get isLate(): boolean {
    return this.#time.signal.aborted;
  }

  get seconds(): number {
    return (performance.now() - this.#started) / 1_000;
  }

  /** The number of received bytes. */
  get bytes(): number {
    return this.#received;
  }

  /** Counts received bytes. */
  add(bytes: number): void {
    this.#received += bytes;
    this.#schedule();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const { startMs, bytesPerSecond } = this.#limits;
    const allowed = startMs + ((this.#sent + this.#received) / bytesPerSecond) * 1_000;
    const remaining = this.#started + allowed - performance.now();
    this.#timer = setTimeout(() => this.#time.abort(), Math.max(0, remaining));
  }
}
