/** The leases of sessions and tasks in memory. */
import type { Lease, LeaseRequest } from "../../domain/index.ts";
import { extendLease, grantLease, markLeaseReleased, toLease, type StoredLease } from "../lease.ts";

export class MemoryLeases {
  readonly #leases = new Map<string, StoredLease>();

  /** The last lease of a session or task, even if it was released. */
  get(id: string): StoredLease | undefined {
    return this.#leases.get(id);
  }

  /** Undefined if there is no lease, or if it was released. */
  current(id: string): Lease | undefined {
    return toLease(this.#leases.get(id));
  }

  /** Throws like `grantLease`. */
  acquire(request: LeaseRequest): Lease {
    return this.#set(grantLease(this.#leases.get(request.sessionId), request));
  }

  /** Returns undefined if the lease is lost. */
  renew(lease: Lease, until: number): Lease | undefined {
    const extended = extendLease(this.#leases.get(lease.sessionId), lease, until);
    return extended && this.#set(extended);
  }

  release(lease: Lease): void {
    const released = markLeaseReleased(this.#leases.get(lease.sessionId), lease);
    if (released !== undefined) this.#leases.set(released.sessionId, released);
  }

  delete(id: string): void {
    this.#leases.delete(id);
  }

  #set(stored: StoredLease): Lease {
    this.#leases.set(stored.sessionId, stored);
    const { sessionId, owner, generation, until } = stored;
    return { sessionId, owner, generation, until };
  }
}
