/** A turn while the agent is at it: what it asks the user meanwhile, and whether it was cancelled. */
import { deferred } from "../../../stdx/index.ts";
import type * as acp from "../../schema.ts";
import { UpdateSubjects } from "./late-updates.ts";
import type { TurnItems } from "../buffer/unread-items.ts";

export class ActiveTurn {
  readonly items: TurnItems;
  readonly subjects = new UpdateSubjects();
  /** Resolves in wire order, unread updates or not. */
  readonly ended = deferred();
  /** For whoever prompted. */
  readonly response = deferred<acp.PromptResponse>();
  /** How to answer each question that is open with `cancelled`. */
  readonly #open = new Set<() => void>();
  readonly #after: number;
  #cancelled = false;

  /** `after` is the number of the last message that had come when it began. */
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

  /** Answers every question, those that are open and those that come. False where it was done before. */
  cancel(): boolean {
    if (this.#cancelled) return false;
    this.#cancelled = true;
    this.stopWaitingForReader(); // whoever cancels may wait for the stop, which is behind what they will not read
    this.cancelQuestions();
    return true;
  }

  /** The agent is not made to wait for a reader: somebody waits for the end of the turn. */
  stopWaitingForReader(): void {
    this.items.neverBlocks = true;
    this.items.releaseRoom();
  }

  /** Nobody needs the answers any more. */
  cancelQuestions(): void {
    for (const stop of [...this.#open]) stop();
  }

  /** Gives `cancelled` as soon as the turn is, whether or not who was asked ever answers. */
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
    this.#open.add(stop);
    const served = serve(AbortSignal.any([signal, controller.signal]));
    try {
      return await Promise.race([stopped.promise, served]);
    } finally {
      this.#open.delete(stop);
      served.catch(() => undefined); // where the cancel was first, nobody waits for it
    }
  }
}
