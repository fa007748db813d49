/** A turn that the agent is working on: its open questions, and whether it was cancelled. */
import { deferred } from "../../../stdx/index.ts";
import type * as acp from "../../schema.ts";
import { UpdateSubjects } from "./late-updates.ts";
import type { TurnItems } from "../buffer/unread-items.ts";

export class ActiveTurn {
  readonly items: TurnItems;
  readonly subjects = new UpdateSubjects();
  /** Resolves in wire order, even if updates are unread. */
  readonly ended = deferred();
  /** The result for the caller of `prompt`. */
  readonly response = deferred<acp.PromptResponse>();
  /** Functions that answer an open question with `cancelled`. */
  readonly #openQuestions = new Set<() => void>();
  readonly #after: number;
  #cancelled = false;

  /** `after` is the number of the last message that arrived before the turn. */
  constructor(items: TurnItems, after = 0) {
    this.items = items;
    this.#after = after;
  }

  startedAfter(message = Infinity): boolean {
    return message <= this.#after;
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** Answers every open and future question with `cancelled`. Returns false if the turn was already cancelled. */
  cancel(): boolean {
    if (this.#cancelled) return false;
    this.#cancelled = true;
    this.stopWaitingForReader(); // the caller may wait for the stop, which comes after updates that nobody reads
    this.cancelQuestions();
    return true;
  }

  /** Stops making the agent wait for the reader, because someone waits for the end of the turn. */
  stopWaitingForReader(): void {
    this.items.neverBlocks = true;
    this.items.releaseRoom();
  }

  /** Answers all open questions with `cancelled`. */
  cancelQuestions(): void {
    for (const stop of [...this.#openQuestions]) stop();
  }

  /** Resolves with `cancelled` as soon as the turn is cancelled, even if `serve` never answers. */
  async ask(
    cancelled: unknown,
    signal: AbortSignal,
    serve: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<unknown> {
    if (this.#cancelled) return cancelled;
    const controller = new AbortController();
    const stopped = deferred<unknown>();
    const stop = (): void => {
      stopped.resolve(cancelled);
      controller.abort();
    };
    this.#openQuestions.add(stop);
    const served = serve(AbortSignal.any([signal, controller.signal]));
    try {
      return await Promise.race([stopped.promise, served]);
    } finally {
      this.#openQuestions.delete(stop);
      served.catch(() => undefined); // after a cancel nobody waits for it
    }
  }
}
