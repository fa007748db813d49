/** Routes the messages of one session: updates to its handler, if it has one, and everything else to its reader. */
import { OrderedDelivery, type UpdateHandler } from "./ordered-delivery.ts";
import type { RequestItem, SessionItem, UpdateItem } from "../session-items.ts";
import type { ActiveTurn } from "../turn/active-turn.ts";
import { UnreadItems } from "./unread-items.ts";

export class SessionInbox {
  readonly unread: UnreadItems;
  readonly #delivery: OrderedDelivery | undefined;

  /** `failed` is called once if the handler throws. With `keepsUnread`, unread items are kept for another reader. */
  constructor(handler: UpdateHandler | undefined, failed: (error: unknown) => void, keepsUnread?: boolean) {
    this.unread = new UnreadItems(keepsUnread);
    this.#delivery = handler && new OrderedDelivery(handler, failed);
  }

  /** The session's id is confirmed: the handler gets what has arrived. */
  open(): void {
    this.#delivery?.open();
  }

  /** Resolves when the handler is done with everything so far. Undefined if it already is. */
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

  /** Removes and returns everything that was neither read nor handled, oldest first. */
  take(): SessionItem[] {
    const taken = [...this.unread.take(), ...(this.#delivery?.take() ?? [])];
    return taken.sort((one, other) => one.at - other.at).map(({ item }) => item);
  }

  /** The handler gets nothing more. */
  stop(): void {
    this.#delivery?.stop();
  }
}
