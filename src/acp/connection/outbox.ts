/**
 * Queues outgoing lines: joins those of one tick into one write, and applies backpressure while the peer does not read.
 */
import { deferred, type Deferred } from "../../stdx/index.ts";
import type { Transport } from "../../programs/transport.ts";

/** Above this size, writers are asked to wait. */
const HIGH_WATER = 256 * 1024;

export class Outbox {
  readonly #transport: Transport;
  #lines: string[] = [];
  #size = 0;
  #scheduled = false;
  #full = false;
  #failed = false;
  #room: Deferred<void> | undefined;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The size of the queued messages, in characters, without what the transport has accepted. */
  get size(): number {
    return this.#size;
  }

  /** Never waits; check `ready` before producing more. */
  send(line: string): void {
    if (this.#failed) return;
    this.#lines.push(line);
    this.#size += line.length;
    if (this.#scheduled || this.#full) return;
    this.#scheduled = true;
    queueMicrotask(() => this.#flush());
  }

  /** Undefined while there is room. */
  ready(): Promise<void> | undefined {
    if (this.#size < HIGH_WATER || this.#failed) return undefined;
    this.#room ??= deferred();
    return this.#room.promise;
  }

  drained(): void {
    this.#full = false;
    this.#flush();
  }

  /** Drops everything, because nobody will read it. */
  fail(): void {
    this.#failed = true;
    this.#lines = [];
    this.#size = 0;
    this.#releaseRoom();
  }

  /** Resolves when the transport has accepted everything. */
  async flushed(): Promise<void> {
    while (this.#size > 0 && !this.#failed) {
      if (!this.#full) this.#flush();
      if (this.#size === 0) return;
      this.#room ??= deferred();
      await this.#room.promise;
    }
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#full || this.#failed || this.#lines.length === 0) return;
    const text = `${this.#lines.join("\n")}\n`;
    this.#lines = [];
    this.#size = 0;
    this.#full = !this.#transport.write(text);
    this.#releaseRoom();
  }

  #releaseRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
