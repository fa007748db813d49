/** Keeps a lease: renews it in time, and reports its loss, even if only the clock reveals it. */
import { RookeryError, isRookeryError, type Lease } from "../domain/index.ts";
import { addStartCheck } from "../stdx/index.ts";
import { DEFAULT_LEASE_TIMING, awakeTime, giveUpMs } from "./lease-timing.ts";
import { releaseSessionLease, type LeaseOptions } from "./lease.ts";

/** How often the timer fires between two renewals. */
const CHECKS_PER_RENEWAL = 10;

/**
 * Renews the lease until it is disposed, which releases it. Calls `onLost` once: when another process has the lease,
 * or when renewals have failed for so long that another process may take it soon. A process that was stopped, or
 * whose machine slept, renews before it starts another child of this owner.
 */
export function keepLeaseRenewed(
  options: LeaseOptions,
  taken: Lease,
  onLost: (error: unknown) => void,
): AsyncDisposable {
  const keeper = new LeaseKeeper(options, taken, onLost);
  return { [Symbol.asyncDispose]: () => keeper.release() };
}

class LeaseKeeper {
  readonly #options: LeaseOptions;
  readonly #onLost: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #startCheck: Disposable;
  #lease: Lease;
  /** By our own clock. Without a renewal, the lease counts as lost then. */
  #deadline: number;
  #renewAt: number;
  #renewing: { readonly since: number; readonly done: Promise<void> } | undefined;
  #ended = false;

  constructor(options: LeaseOptions, taken: Lease, onLost: (error: unknown) => void) {
    this.#options = options;
    this.#onLost = onLost;
    this.#lease = taken;
    const { ttlMs, renewMs } = this.#timing;
    const ageMs = Math.min(ttlMs, Math.max(0, ttlMs - (taken.until - options.clock.now()))); // reading the log took time
    this.#deadline = this.#now() - ageMs + giveUpMs(this.#timing);
    this.#renewAt = this.#now() - ageMs + renewMs;
    this.#timer = setInterval(() => this.#checkTimes(), renewMs / CHECKS_PER_RENEWAL).unref();
    const owner = options.owner.split("/")[0] ?? "";
    this.#startCheck = addStartCheck({ marker: owner, check: () => this.#verifyBeforeStart() });
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
    this.#ended = true;
    clearInterval(this.#timer);
    this.#startCheck[Symbol.dispose]();
  }

  #checkTimes(): void {
    if (this.#ended) return;
    const now = this.#now();
    if (now >= this.#renewAt || this.#isExpired()) void this.#renew();
    if (now < this.#deadline || this.#renewing === undefined) return;
    // A renewal that started after the process was stopped may take a moment. One that hangs for longer will not finish.
    if (now - this.#renewing.since >= this.#timing.renewMs / CHECKS_PER_RENEWAL) this.#lose(this.#tooLate());
  }

  /** By the wall clock, which processes use that cannot check this one: the machine slept, or the clock was set. */
  #isExpired(): boolean {
    return this.#options.clock.now() >= this.#lease.until;
  }

  /** Called before a child is started. Returns undefined if the lease is certainly ours. */
  #verifyBeforeStart(): Promise<void> | undefined {
    if (this.#now() < this.#deadline && !this.#isExpired()) return undefined;
    return this.#renew().then(() => {
      if (this.#ended || this.#now() >= this.#deadline) throw this.#tooLate();
    });
  }

  #renew(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#renewing ??= {
      since: this.#now(),
      done: this.#renewOnce().finally(() => {
        this.#renewing = undefined;
      }),
    };
    return this.#renewing.done;
  }

  async #renewOnce(): Promise<void> {
    const { store, clock } = this.#options;
    const { ttlMs, renewMs } = this.#timing;
    const since = this.#now();
    try {
      this.#lease = await store.renewLease(this.#lease, clock.now() + ttlMs);
      this.#deadline = since + giveUpMs(this.#timing);
      this.#renewAt = since + renewMs;
    } catch (error) {
      this.#renewAt = this.#now() + renewMs / CHECKS_PER_RENEWAL; // a full disk may have space again soon
      if (isRookeryError(error, "lease_lost")) this.#lose(error);
      else if (this.#now() >= this.#deadline) this.#lose(this.#tooLate(error));
    }
  }

  #lose(error: unknown): void {
    if (this.#ended) return;
    this.#end();
    this.#onLost(error);
  }

  #tooLate(cause?: unknown): RookeryError {
    const { sessionId } = this.#lease;
    return new RookeryError(
      "lease_lost",
      `the lease of session ${sessionId} could not be renewed in time, so another process may have taken it: its agent was stopped; open the session again`,
      { cause },
    );
  }
}
