/** Decides whether a load balancer should send requests to this server. */
import { messageOf, RookeryError, type Store } from "../../domain/index.ts";

/** How long the store may take to answer, in milliseconds. */
const MAX_CHECK_MS = 2_000;
/** How long a result is cached, in milliseconds. Anyone may send this request, and it must not load the database. */
const CACHE_MS = 1_000;

export interface ReadinessTimes {
  readonly maxCheckMs: number;
  readonly cacheMs: number;
}

export class ServerReadiness {
  readonly #store: Pick<Store, "check">;
  readonly #times: ReadinessTimes;
  #result: { readonly at: number; readonly problem: Promise<string | undefined> } | undefined;
  /** The running check. No other check starts before it ends. */
  #running: Promise<string | undefined> | undefined;

  constructor(store: Pick<Store, "check">, times: ReadinessTimes = { maxCheckMs: MAX_CHECK_MS, cacheMs: CACHE_MS }) {
    this.#store = store;
    this.#times = times;
  }

  /** Resolves with the reason if the server is not ready, otherwise with undefined. Never rejects. */
  findProblem(): Promise<string | undefined> {
    const now = performance.now();
    if (this.#result === undefined || now - this.#result.at >= this.#times.cacheMs) {
      this.#result = { at: now, problem: this.#checkInTime() };
    }
    return this.#result.problem;
  }

  async #checkInTime(): Promise<string | undefined> {
    const { maxCheckMs } = this.#times;
    this.#running ??= this.#check().finally(() => {
      this.#running = undefined;
    });
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, maxCheckMs, `the store has not answered within ${maxCheckMs / 1000} s`).unref();
    });
    try {
      return await Promise.race([this.#running, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #check(): Promise<string | undefined> {
    try {
      await this.#store.check();
      return undefined;
    } catch (error) {
      return error instanceof RookeryError ? error.message : `the store failed: ${messageOf(error)}`;
    }
  }
}
