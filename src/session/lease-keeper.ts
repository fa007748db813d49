/** Keeps a lease: renews it in time, and reports its loss, even if only the clock reveals it. */
import { RookeryError, type Lease } from "../domain/index.ts";
import { addStartCheck } from "../stdx/index.ts";
import { joinLeaseRenewals, type KeptLease, type LeaseRenewals } from "./lease-renewals.ts";
import { awakeTime, giveUpMs, renewalCheckMs, type LeaseTiming } from "./lease-timing.ts";
import { releaseSessionLease, type LeaseOptions } from "./lease.ts";

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

class LeaseKeeper implements KeptLease {
  readonly #options: LeaseOptions;
  readonly #onLost: (error: unknown) => void;
  readonly #renewals: LeaseRenewals;
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
    this.#renewals = joinLeaseRenewals(options, this);
    const { ttlMs, renewMs } = this.#timing;
    const ageMs = Math.min(ttlMs, Math.max(0, ttlMs - (taken.until - options.clock.now()))); // reading the log took time
    this.#deadline = this.#now() - ageMs + giveUpMs(this.#timing);
    this.#renewAt = this.#now() - ageMs + renewMs;
    const owner = options.owner.split("/")[0] ?? "";
    this.#startCheck = addStartCheck({ marker: owner, check: () => this.#verifyBeforeStart() });
  }

  get lease(): Lease {
    return this.#lease;
  }

  async release(): Promise<void> {
    this.#end();
    await this.#renewing?.done;
    await releaseSessionLease(this.#options.store, this.#lease);
  }

  isDue(inMs: number): boolean {
    if (this.#ended || this.#renewing !== undefined) return false;
    return this.#now() + inMs >= this.#renewAt || this.#isExpired();
  }

  startRenewal(done: Promise<void>): void {
    this.#renewing = { since: this.#now(), done };
  }

  endRenewal(renewed: Lease | undefined): void {
    const since = this.#renewing?.since ?? this.#now();
    this.#renewing = undefined;
    if (renewed === undefined) return this.#lose(this.#superseded());
    this.#lease = renewed;
    this.#deadline = since + giveUpMs(this.#timing);
    this.#renewAt = since + this.#timing.renewMs;
  }

  failRenewal(error: unknown): void {
    this.#renewing = undefined;
    this.#renewAt = this.#now() + renewalCheckMs(this.#timing); // a full disk may have space again soon
    if (this.#now() >= this.#deadline) this.#lose(this.#tooLate(error));
  }

  checkDeadline(): void {
    const now = this.#now();
    if (this.#ended || now < this.#deadline || this.#renewing === undefined) return;
    // A renewal that started after the process was stopped may take a moment. One that hangs for longer will not finish.
    if (now - this.#renewing.since >= renewalCheckMs(this.#timing)) this.#lose(this.#tooLate());
  }

  get #timing(): LeaseTiming {
    return this.#renewals.timing;
  }

  #now(): number {
    return awakeTime(this.#options.clock);
  }

  #end(): void {
    this.#ended = true;
    this.#renewals.leave(this);
    this.#startCheck[Symbol.dispose]();
  }

  /** By the wall clock, which processes use that cannot check this one: the machine slept, or the clock was set. */
  #isExpired(): boolean {
    return this.#options.clock.now() >= this.#lease.until;
  }

  /** Called before a child is started. Returns undefined if the lease is certainly ours. */
  #verifyBeforeStart(): Promise<void> | undefined {
    if (this.#now() < this.#deadline && !this.#isExpired()) return undefined;
    this.#renewals.renewDue();
    return (this.#renewing?.done ?? Promise.resolve()).then(() => {
      if (this.#ended || this.#now() >= this.#deadline || this.#isExpired()) throw this.#tooLate();
    });
  }

  #lose(error: unknown): void {
    if (this.#ended) return;
    this.#end();
    this.#onLost(error);
  }

  #superseded(): RookeryError {
    const { sessionId, generation } = this.#lease;
    return new RookeryError(
      "lease_lost",
      `lease ${generation} of session ${sessionId} is no longer valid, because another process has taken it: its agent was stopped; open the session again`,
    );
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
