/** The timeout of a call: silence ends it, progress resets it, and waiting for a person does not count. */

export class CallTimeout {
  readonly #silentMs: number;
  readonly #expired: () => void;
  #leftMs: number;
  #startedAt = 0;
  #pauses = 0;
  #silence: NodeJS.Timeout | undefined;
  #total: NodeJS.Timeout | undefined;

  constructor({ silentMs, totalMs, expired }: { silentMs: number; totalMs: number; expired: () => void }) {
    this.#silentMs = silentMs;
    this.#leftMs = totalMs;
    this.#expired = expired;
    this.#start();
  }

  recordProgress(): void {
    if (this.#pauses === 0) this.#silence?.refresh();
  }

  pause(): void {
    this.#pauses += 1;
    if (this.#pauses > 1) return;
    this.stop();
    this.#leftMs -= performance.now() - this.#startedAt;
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#start();
  }

  stop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
  }

  #start(): void {
    this.#startedAt = performance.now();
    this.#silence = setTimeout(this.#expired, this.#silentMs);
    this.#total = setTimeout(this.#expired, Math.max(0, this.#leftMs));
  }
}
