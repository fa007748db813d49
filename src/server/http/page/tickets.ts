/** One-time tickets: a browser that opens a link with one is signed in to the page. */
import { randomBytes } from "node:crypto";

const LIFETIME_MS = 60_000;
/** Older tickets are dropped, so that repeated requests for tickets cannot fill the memory. */
const MAX_TICKETS = 100;

export interface Ticket {
  readonly ticket: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export class Tickets {
  readonly #expiries = new Map<string, number>();
  readonly #now: () => number;

  /** `now` must not jump with the system clock. Default: a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  make(): Ticket {
    const ticket = randomBytes(24).toString("base64url");
    this.#expiries.set(ticket, this.#now() + LIFETIME_MS);
    for (const oldest of this.#expiries.keys()) {
      if (this.#expiries.size <= MAX_TICKETS) break;
      this.#expiries.delete(oldest);
    }
    return { ticket, expiresAt: Date.now() + LIFETIME_MS };
  }

  /** Returns whether the ticket was valid. It is not valid again. */
  use(ticket: string): boolean {
    const expiry = this.#expiries.get(ticket);
    this.#expiries.delete(ticket);
    return expiry !== undefined && this.#now() < expiry;
  }
}
