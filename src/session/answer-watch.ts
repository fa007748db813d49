/** Waits for answers in the log, because any process may give them. All requests of a session share one reader. */
import type { EventOf, SessionStore } from "../domain/index.ts";
import { deferred, type Deferred } from "../stdx/index.ts";
import type { Recorder } from "./recorder.ts";
import { followWithRetry } from "./store-retry.ts";

export type RequestAnswer = EventOf<"permission.resolved"> | EventOf<"question.answered">;

export interface AnswerWait {
  readonly recorder: Recorder;
  readonly store: SessionStore;
  readonly requestId: string;
  /**
   * The head before the request was recorded. The current head may be beyond the answer: if the store reported a failure
   * although the request was durable, a person can answer while it is still being retried.
   */
  readonly after: number;
  readonly signal: AbortSignal;
}

/** Rejects with the signal's reason, or if the log cannot be read. */
export function waitForAnswer({ recorder, store, ...wait }: AnswerWait): Promise<RequestAnswer> {
  const watch = watches.get(recorder) ?? new AnswerWatch(recorder, store);
  watches.set(recorder, watch);
  return watch.wait(wait);
}

const watches = new WeakMap<Recorder, AnswerWatch>();

class AnswerWatch {
  readonly #recorder: Recorder;
  readonly #store: SessionStore;
  readonly #waiting = new Map<string, Deferred<RequestAnswer>>();
  /** Ends the reader. Undefined while nothing waits. */
  #reading: AbortController | undefined;

  constructor(recorder: Recorder, store: SessionStore) {
    this.#recorder = recorder;
    this.#store = store;
  }

  async wait({ requestId, after, signal }: Omit<AnswerWait, "recorder" | "store">): Promise<RequestAnswer> {
    const known = this.#recorder.state.requests.find((request) => request.requestId === requestId)?.answer;
    if (known !== undefined) return known; // the reader has passed it already
    const answer = deferred<RequestAnswer>();
    const own = AbortSignal.any([signal]); // many requests may listen to the signal of the turn
    const abort = (): void => answer.reject(own.reason);
    own.addEventListener("abort", abort);
    if (own.aborted) abort();
    this.#waiting.set(requestId, answer);
    if (this.#reading === undefined) this.#startReading(after);
    try {
      return await answer.promise;
    } finally {
      own.removeEventListener("abort", abort);
      this.#waiting.delete(requestId);
      if (this.#waiting.size === 0) this.#stopReading();
    }
  }

  #startReading(after: number): void {
    const reading = new AbortController();
    this.#reading = reading;
    this.#read(after, reading.signal).catch((error: unknown) => {
      if (this.#reading !== reading) return; // nothing waits for it anymore
      this.#stopReading();
      for (const answer of this.#waiting.values()) answer.reject(error);
    });
  }

  #stopReading(): void {
    this.#reading?.abort();
    this.#reading = undefined;
  }

  async #read(after: number, signal: AbortSignal): Promise<never> {
    const { id: sessionId } = this.#recorder.state;
    for await (const event of followWithRetry(this.#store, { sessionId, after, signal })) {
      this.#recorder.advance([event]);
      if (event.type === "permission.resolved" || event.type === "question.answered") {
        this.#waiting.get(event.requestId)?.resolve(event);
      }
    }
    throw new Error("the log ended while a request waited for an answer"); // happens only if the store is closed
  }
}
