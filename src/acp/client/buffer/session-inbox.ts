/** Where what comes for a session goes: updates to its handler if it has one, and everything else to who reads. */
import { OrderedDelivery, type UpdateHandler } from "./ordered-delivery.ts";
import type { RequestItem, SessionItem, UpdateItem } from "../session-items.ts";
import type { ActiveTurn } from "../turn/active-turn.ts";
import { UnreadItems } from "./unread-items.ts";

export class SessionInbox {
  readonly unread: UnreadItems;
  readonly #delivery: OrderedDelivery | undefined;

  /** `failed` hears once what the handler threw; `keeps` says that what nobody reads here is for someone else. */
  constructor(handler: UpdateHandler | undefined, failed: (error: unknown) => void, keeps?: boolean) {
    this.unread = new UnreadItems(keeps);
    this.#delivery = handler && new OrderedDelivery(handler, failed);
  }

  /** The session is the one that was asked for: its handler gets what has come. */
  open(): void {
    this.#delivery?.open();
  }

  /** Resolves when the handler is done with everything up to now; undefined where it is. */
  get drained(): Promise<void> | undefined {
    return this.#delivery?.drained;
  }

  /** Returns what the agent has to wait for. */
  push(item: UpdateItem, turn: ActiveTurn | undefined): Promise<void> | undefined {
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

  pushRequest(item: RequestItem, turn: ActiveTurn | undefined): void {
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
