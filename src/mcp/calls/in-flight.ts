/** The calls in progress on one server. A question from the server is asked in the context of its call. */
import type { AskOptions, Question, QuestionAnswer } from "../../domain/index.ts";
import type { CallTimeout } from "./call-timeout.ts";

export interface CallInFlight {
  ask(question: Question, options: AskOptions): Promise<QuestionAnswer>;
  readonly signal: AbortSignal;
  readonly timeout: CallTimeout;
}

export class CallsInFlight {
  readonly #calls = new Set<CallInFlight>();

  add(call: CallInFlight): () => void {
    this.#calls.add(call);
    return () => {
      call.timeout.stop();
      this.#calls.delete(call);
    };
  }

  /** The protocol does not say which call a question belongs to. The most recent call is the best guess. */
  get latest(): CallInFlight | undefined {
    return [...this.#calls].at(-1);
  }

  /** Pauses the timeouts of all calls while a person answers, because any of them may be waiting for the answer. */
  async withTimeoutsPaused<T>(work: () => Promise<T>): Promise<T> {
    const paused = [...this.#calls];
    for (const { timeout } of paused) timeout.pause();
    try {
      return await work();
    } finally {
      for (const call of paused) if (this.#calls.has(call)) call.timeout.resume();
    }
  }
}
