/**
 * Converts times between the clock of this machine and the clock of the database. Leases are stored in the time of the
 * database, so that machines whose clocks differ agree on when a lease expires.
 */
import type { Lease } from "../../domain/index.ts";
import type { Clock } from "../../stdx/index.ts";
import type { PostgresConnection } from "./connection.ts";

/** Clocks that differ by less than this count as equal, so that times do not change because of a slow answer. */
const MAX_DIFFERENCE_MS = 100;
/** How long a measurement is used. */
const MEASURED_FOR_MS = 10_000;
/** A jump of our own clock of this size makes a measurement useless. */
const MAX_JUMP_MS = 50;

export class DatabaseClock {
  readonly #clock: Required<Clock>;
  /** What to add to our time to get the time of the database, in milliseconds. */
  #offset = 0;
  #measuredAt = -Infinity;
  /** The difference of our wall clock and our monotonic clock when it was measured. */
  #wallOffset = 0;
  #measuring: Promise<void> | undefined;

  constructor(clock: Required<Clock>) {
    this.#clock = clock;
  }

  /**
   * Measures the difference if the last measurement is old, or if our clock was set since. Call it before times are
   * converted. Rejects with a `store_*` error.
   */
  async synchronize(connection: PostgresConnection): Promise<void> {
    const isFresh = this.#clock.awake() < this.#measuredAt + MEASURED_FOR_MS;
    const jump = this.#clock.now() - this.#clock.awake() - this.#wallOffset;
    if (isFresh && Math.abs(jump) < MAX_JUMP_MS) return;
    this.#measuring ??= this.#measure(connection).finally(() => {
      this.#measuring = undefined;
    });
    await this.#measuring;
  }

  toDatabaseTime(time: number): number {
    return time + this.#offset;
  }

  toOwnTime(time: number): number {
    return time - this.#offset;
  }

  /** Converts the end of a stored lease. */
  toOwnLease<Given extends Lease | undefined>(lease: Given): Given {
    return lease && { ...lease, until: this.toOwnTime(lease.until) };
  }

  async #measure(connection: PostgresConnection): Promise<void> {
    let sent = 0;
    let started = 0;
    const [row] = await connection.retry(() => {
      sent = this.#clock.now();
      started = this.#clock.awake();
      return connection.tryQuery(NOW_SQL);
    });
    const ended = this.#clock.awake();
    // The server read its clock at some time in between.
    const halfMs = (ended - started) / 2;
    const offset = (row?.[0] as number) - (sent + halfMs);
    if (Math.abs(offset - this.#offset) > MAX_DIFFERENCE_MS + halfMs) this.#offset = Math.round(offset);
    this.#measuredAt = ended;
    this.#wallOffset = sent - started;
  }
}

const NOW_SQL = "select (extract(epoch from clock_timestamp()) * 1000)::double precision";
