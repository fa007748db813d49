/** The calls of one server that are under way: a question that it asks meanwhile is put where its call is. */
import type { AskOptions, Question, QuestionAnswer } from "../../domain/index.ts";
import type { Patience } from "./patience.ts";

export interface CallInFlight {
  ask(question: Question, options: AskOptions): Promise<QuestionAnswer>;
  readonly signal: AbortSignal;
  readonly patience: Patience;
}

export class CallsInFlight {
  readonly #calls = new Set<CallInFlight>();

  add(call: CallInFlight): () => void {
    this.#calls.add(call);
    return () => {
      call.patience.stop();
      this.#calls.delete(call);
    };
  }

  /** The protocol does not say which call a question belongs to; the youngest is the best guess there is. */
  get latest(): CallInFlight | undefined {
    return [...this.#calls].at(-1);
  }

  /** Nobody's time runs while a person thinks, because the call that waits for them may be any. */
  async unhurried<T>(work: () => Promise<T>): Promise<T> {
    const paused = [...this.#calls];
    for (const { patience } of paused) patience.pause();
    try {
      return await work();
    } finally {
      for (const call of paused) if (this.#calls.has(call)) call.patience.resume();
    }
  }
}
