/** Where what comes for a session goes: updates to its handler if it has one, and everything else to who reads. */
import { Delivery, type UpdateHandler } from "./delivery.ts";
import type { RequestItem, SessionItem, UpdateItem } from "./items.ts";
import type { RunningTurn } from "./running.ts";
import { Unread } from "./unread.ts";

export class Intake {
  readonly unread: Unread;
  readonly #delivery: Delivery | undefined;

  /** `failed` hears once what the handler threw; `keeps` says that what nobody reads here is for someone else. */
  constructor(handler: UpdateHandler | undefined, failed: (error: unknown) => void, keeps?: boolean) {
    this.unread = new Unread(keeps);
    this.#delivery = handler && new Delivery(handler, failed);
  }

  /** The session is the one that was asked for: its handler gets what has come. */
  open(): void {
    this.#delivery?.open();
  }

  /** Resolves when the handler is done with everything up to now; undefined where it is. */
  get handled(): Promise<void> | undefined {
    return this.#delivery?.reached;
  }

  /** Returns what the agent has to wait for. */
  push(item: UpdateItem, turn: RunningTurn | undefined): Promise<void> | undefined {
    if (this.#delivery !== undefined) {
      this.#delivery.push(item);
      return turn?.cancelled === true ? undefined : this.#delivery.room;
    }
    if (item.when === "turn" && turn !== undefined) {
      this.unread.pushTurn(turn.items, item);
      return this.unread.room(turn.items);
    }
    if (item.when === "replay") this.unread.pushHistory(item);
    else this.unread.pushBetween(item);
    return undefined;
  }

  pushRequest(item: RequestItem, turn: RunningTurn | undefined): void {
    if (turn === undefined) this.unread.pushBetween(item);
    else this.unread.pushTurn(turn.items, item);
  }

  /** Everything that was neither read nor handled, the oldest first. */
  take(): SessionItem[] {
    const taken = [...this.unread.take(), ...(this.#delivery?.take() ?? [])];
    return taken.sort((one, other) => one.at - other.at).map(({ item }) => item);
  }

  /** The handler gets nothing more. */
  stop(): void {
    this.#delivery?.stop();
  }
}
