/**
 * Renews all leases that this process holds in a store together: one timer, and one call of the store for all that are
 * due. Each lease keeps its own deadline.
 */
import type { Lease, SessionStore } from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import { DEFAULT_LEASE_TIMING, renewalCheckMs, type LeaseTiming } from "./lease-timing.ts";

/** A lease that is renewed with others. Its methods must not throw. */
export interface KeptLease {
  readonly lease: Lease;
  /** True if the lease has to be renewed within this time, in milliseconds, and is not being renewed. */
  isDue(inMs: number): boolean;
  /** Called when a renewal starts. `done` resolves after one of the next two was called. */
  startRenewal(done: Promise<void>): void;
  /** Undefined if the lease is lost. */
  endRenewal(renewed: Lease | undefined): void;
  /** The store could not answer. */
  failRenewal(error: unknown): void;
  /** Called often, even while a renewal hangs. */
  checkDeadline(): void;
}

interface RenewalOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly timing?: LeaseTiming | undefined;
}

/** Adds a lease. The caller must call `leave` when it does not need the lease anymore. */
export function joinLeaseRenewals({ store, clock, timing = DEFAULT_LEASE_TIMING }: RenewalOptions, kept: KeptLease) {
  const all = renewalsOf.get(store) ?? [];
  renewalsOf.set(store, all);
  let renewals = all.find((other) => other.fits(clock, timing));
  if (renewals === undefined) {
    renewals = new LeaseRenewals({ store, clock, timing });
    all.push(renewals);
  }
  renewals.join(kept);
  return renewals;
}

/** A process has one clock and one timing, except in tests. */
const renewalsOf = new WeakMap<SessionStore, LeaseRenewals[]>();

export class LeaseRenewals {
  readonly timing: LeaseTiming;
  readonly #store: SessionStore;
  readonly #clock: Clock;
  readonly #kept = new Set<KeptLease>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ store, clock, timing }: Required<RenewalOptions> & { readonly timing: LeaseTiming }) {
    this.#store = store;
    this.#clock = clock;
    this.timing = timing;
  }

  fits(clock: Clock, { ttlMs, renewMs }: LeaseTiming): boolean {
    return this.#clock === clock && this.timing.ttlMs === ttlMs && this.timing.renewMs === renewMs;
  }

  join(kept: KeptLease): void {
    this.#kept.add(kept);
    this.#timer ??= setInterval(() => this.#check(), renewalCheckMs(this.timing)).unref();
  }

  leave(kept: KeptLease): void {
    this.#kept.delete(kept);
    if (this.#kept.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** If one lease is due, also renews those that are due soon, so that later calls renew all of them together. */
  renewDue(): void {
    const all = [...this.#kept];
    if (!all.some((kept) => kept.isDue(0))) return;
    const due = all.filter((kept) => kept.isDue(this.timing.renewMs / 2));
    const done = this.#renew(due);
    for (const kept of due) kept.startRenewal(done);
  }

  #check(): void {
    this.renewDue();
    for (const kept of [...this.#kept]) kept.checkDeadline();
  }

  async #renew(due: readonly KeptLease[]): Promise<void> {
    const leases = due.map(({ lease }) => lease);
    const until = this.#clock.now() + this.timing.ttlMs;
    let renewed: readonly (Lease | undefined)[];
    try {
      renewed = await this.#store.renewLeases(leases, until);
    } catch (error) {
      for (const kept of due) kept.failRenewal(error);
      return;
    }
    for (const [index, kept] of due.entries()) kept.endRenewal(renewed[index]);
  }
}
