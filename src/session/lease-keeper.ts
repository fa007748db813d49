/** Keeps a lease: renews it in time, and says when it is lost, also where that is only noticed by the clock. */
import { RookeryError, isRookeryError, type Lease } from "../domain/index.ts";
import { addStartCheck } from "../stdx/index.ts";
import { DEFAULT_LEASE_TIMING, awakeTime, giveUpMs } from "./lease-timing.ts";
import { releaseSessionLease, type LeaseOptions } from "./lease.ts";

/** How often it is looked whether something is to be done, as a part of the time between two renewals. */
const CHECKS_PER_RENEWAL = 10;

/**
 * Renews until it is disposed, which gives the lease back. `onLost` is called once: when someone else has it, or when it
 * could not be renewed for so long that someone else may have it soon. A process that was stopped, or a machine that
 * slept, renews before it starts another child of this owner.
 */
export function keepLeaseRenewed(options: LeaseOptions, taken: Lease, onLost: (error: unknown) => void): AsyncDisposable {
  const keeper = new LeaseKeeper(options, taken, onLost);
  return { [Symbol.asyncDispose]: () => keeper.release() };
}

class LeaseKeeper {
  readonly #options: LeaseOptions;
  readonly #onLost: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #check: Disposable;
  #lease: Lease;
  /** By our own clock: without a renewal it is lost then. */
  #deadline: number;
  #renewAt: number;
  #renewing: { readonly since: number; readonly done: Promise<void> } | undefined;
  #over = false;

  constructor(options: LeaseOptions, taken: Lease, onLost: (error: unknown) => void) {
    this.#options = options;
    this.#onLost = onLost;
    this.#lease = taken;
    const { ttlMs, renewMs } = this.#timing;
    const ageMs = Math.min(ttlMs, Math.max(0, ttlMs - (taken.until - options.clock.now()))); // its log was read meanwhile
    this.#deadline = this.#now() - ageMs + giveUpMs(this.#timing);
    this.#renewAt = this.#now() - ageMs + renewMs;
    this.#timer = setInterval(() => this.#look(), renewMs / CHECKS_PER_RENEWAL).unref();
    const owner = options.owner.split("/")[0] ?? "";
    this.#check = addStartCheck({ marker: owner, check: () => this.#recheck() });
  }

  async release(): Promise<void> {
    this.#end();
    await this.#renewing?.done;
    await releaseSessionLease(this.#options.store, this.#lease);
  }

  get #timing() {
    return this.#options.timing ?? DEFAULT_LEASE_TIMING;
  }

  #now(): number {
    return awakeTime(this.#options.clock);
  }

  #end(): void {
    this.#over = true;
    clearInterval(this.#timer);
    this.#check[Symbol.dispose]();
  }

  #look(): void {
    if (this.#over) return;
    const now = this.#now();
    if (now >= this.#renewAt || this.#isPastItsTime()) void this.#renew();
    if (now < this.#deadline || this.#renewing === undefined) return;
    // A renewal that began after we were stopped may take a moment; one that has hung for long does not come.
    if (now - this.#renewing.since >= this.#timing.renewMs / CHECKS_PER_RENEWAL) this.#lose(this.#late());
  }

  /** By the clock of the day, which others go by who cannot judge us: the machine slept, or the clock was set. */
  #isPastItsTime(): boolean {
    return this.#options.clock.now() >= this.#lease.until;
  }

  /** Before a child is started. Undefined while there is no doubt that the lease is ours. */
  #recheck(): Promise<void> | undefined {
    if (this.#now() < this.#deadline && !this.#isPastItsTime()) return undefined;
    return this.#renew().then(() => {
      if (this.#over || this.#now() >= this.#deadline) throw this.#late();
    });
  }

  #renew(): Promise<void> {
    if (this.#over) return Promise.resolve();
    this.#renewing ??= {
      since: this.#now(),
      done: this.#renewed().finally(() => {
        this.#renewing = undefined;
      }),
    };
    return this.#renewing.done;
  }

  async #renewed(): Promise<void> {
    const { store, clock } = this.#options;
    const { ttlMs, renewMs } = this.#timing;
    const since = this.#now();
    try {
      this.#lease = await store.renewLease(this.#lease, clock.now() + ttlMs);
      this.#deadline = since + giveUpMs(this.#timing);
      this.#renewAt = since + renewMs;
    } catch (error) {
      this.#renewAt = this.#now() + renewMs / CHECKS_PER_RENEWAL; // a full disk now may have room in a moment
      if (isRookeryError(error, "lease_lost")) this.#lose(error);
      else if (this.#now() >= this.#deadline) this.#lose(this.#late(error));
    }
  }

  #lose(error: unknown): void {
    if (this.#over) return;
    this.#end();
    this.#onLost(error);
  }

  #late(cause?: unknown): RookeryError {
    const { sessionId } = this.#lease;
    return new RookeryError(
      "lease_lost",
      `the lease of ${sessionId} could not be renewed in time, so another process may have it: what runs is ended; open it again`,
      { cause },
    );
  }
}
