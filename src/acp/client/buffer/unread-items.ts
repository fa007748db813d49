/** The unread items of a session, in order and bounded, separated by turn. */
import { deferred, type Deferred } from "../../../stdx/index.ts";
import { methodNotFound } from "../../errors.ts";
import type { RequestItem, SessionItem, StopItem, UpdateItem } from "../session-items.ts";
import { HARD_LIMIT, FINISHED_TURNS_LIMIT, BETWEEN_LIMIT, SOFT_LIMIT, unreadLimitError } from "./limits.ts";
import { findOldestQueue, SizedQueue } from "./sized-queue.ts";

interface ReadFailure {
  readonly kind: "failure";
  readonly error: Error;
}
type UnreadQueue = SizedQueue<SessionItem | ReadFailure>;

/** The unread items of one turn. */
export class TurnItems {
  readonly queue: UnreadQueue = new SizedQueue();
  /** Set once the agent has answered. */
  result: { readonly error: Error | undefined } | undefined;
  /** Why the turn can no longer be read to its end. */
  lost: Error | undefined;
  /** True if nobody will read further items. */
  discarding = false;
  /** True if the agent never waits for the reader of this turn. */
  neverBlocks = false;
  room: Deferred<void> | undefined;

  releaseRoom(): void {
    this.room?.resolve();
    this.room = undefined;
  }
}

export class UnreadItems {
  /** Skips nothing, because unread items are for another reader. */
  readonly #keepsUnread: boolean;
  readonly #history: UnreadQueue = new SizedQueue();
  readonly #between: UnreadQueue = new SizedQueue();
  /** Turns with unread items, oldest first, and the running turn. */
  #turns: TurnItems[] = [];
  #arrival: Deferred<void> | undefined;
  #historyLost = false;
  #dropped = 0;
  #endError: Error | undefined;

  constructor(keeps = false) {
    this.#keepsUnread = keeps;
  }

  /** Number of updates that were dropped because nobody read them in time. */
  get dropped(): number {
    return this.#dropped;
  }

  recordLost(count: number): void {
    this.#dropped += count;
  }

  /** Keeps unread items of earlier turns, within a limit, for a slow reader. */
  addTurn(): TurnItems {
    let left = this.#turns.reduce((size, { queue }) => size + queue.size, 0);
    const limit = this.#keepsUnread ? HARD_LIMIT : FINISHED_TURNS_LIMIT;
    while (left > limit) {
      const turn = this.#turns.shift();
      if (turn === undefined) break;
      left -= turn.queue.size;
      this.#dropped += this.#dropTurn(turn);
      turn.lost = unreadLimitError(limit);
    }
    const turn = new TurnItems();
    this.#turns.push(turn);
    return turn;
  }

  pushHistory(item: UpdateItem): void {
    if (this.#historyLost) return;
    this.#history.push(item, item.line.length);
    if (this.#history.size > HARD_LIMIT) {
      this.#historyLost = true;
      this.#dropped += this.#history.clear().length;
      this.#history.push({ kind: "failure", error: unreadLimitError(HARD_LIMIT) });
    }
    this.#wake();
  }

  pushBetween(item: UpdateItem | RequestItem): void {
    this.#between.push(item, countCharacters(item));
    const limit = this.#keepsUnread ? HARD_LIMIT : BETWEEN_LIMIT;
    while (this.#between.size > limit) this.#dropped += countDropped(this.#between.shift()?.item);
    this.#wake();
  }

  pushTurn(turn: TurnItems, item: UpdateItem | RequestItem): void {
    if (turn.discarding) return refuseUnread(item);
    turn.queue.push(item, countCharacters(item));
    if (turn.queue.size > HARD_LIMIT) this.failTurn(turn, unreadLimitError(HARD_LIMIT));
    this.#wake();
  }

  /** What the agent has to wait for until there is room for more of the turn. */
  room(turn: TurnItems): Promise<void> | undefined {
    if (turn.queue.size <= SOFT_LIMIT || turn.neverBlocks) return undefined;
    turn.room ??= deferred();
    return turn.room.promise;
  }

  /** The agent has answered. Readers get an error after all other items. */
  endTurn(turn: TurnItems, how: StopItem | Error): void {
    const error = how instanceof Error ? how : undefined;
    turn.result = { error };
    if (!turn.discarding) turn.queue.push(how instanceof Error ? { kind: "failure", error: how } : how);
    this.#afterRead(turn);
    this.#wake();
  }

  /** The reader left the turn early: skips its remaining and future items. */
  discardTurn(turn: TurnItems): void {
    if (this.#keepsUnread) return;
    this.#dropTurn(turn);
    this.#afterRead(turn);
    this.#wake();
  }

  /** Makes the turn unreadable: readers get the error. */
  failTurn(turn: TurnItems, error: Error): void {
    this.#dropped += this.#dropTurn(turn);
    turn.lost = error;
    turn.queue.push({ kind: "failure", error });
    this.#wake();
  }

  /** Nothing more will come: readers get the remaining items, then this error. */
  close(error: Error): void {
    this.#endError ??= error;
    this.#wake();
  }

  /** Waits for the oldest unread item. Rejects with the error of a failed turn or of the session. */
  async next(): Promise<SessionItem> {
    for (;;) {
      const item = this.#shift();
      if (item?.kind === "failure") throw item.error;
      if (item !== undefined) return item;
      if (this.#endError !== undefined) throw this.#endError;
      await this.#waitForArrival();
    }
  }

  /**
   * Returns the next item of the turn, or one from outside of any turn. Undefined at the end of the turn. Skips
   * history.
   */
  async nextOfTurn(turn: TurnItems): Promise<UpdateItem | RequestItem | undefined> {
    if (this.#history.first !== undefined && !this.#keepsUnread) this.#history.clear();
    for (;;) {
      if (turn.queue.first === undefined) {
        if (turn.lost !== undefined) throw turn.lost;
        if (turn.result?.error !== undefined) throw turn.result.error;
        if (turn.result !== undefined) return undefined;
      }
      const item = findOldestQueue([turn.queue, this.#between])?.shift()?.item;
      this.#afterRead(turn);
      if (item?.kind === "failure") throw item.error;
      if (item?.kind === "stop") return undefined;
      if (item !== undefined) return item;
      await this.#waitForArrival();
    }
  }

  /** Removes and returns all unread items with their arrival numbers. */
  take(): { readonly at: number; readonly item: SessionItem }[] {
    const queues = [this.#history, this.#between, ...this.#turns.map(({ queue }) => queue)];
    const taken = queues.flatMap((queue) => queue.clear());
    for (const turn of [...this.#turns]) this.#afterRead(turn);
    return taken.filter(isReadable);
  }

  #shift(): SessionItem | ReadFailure | undefined {
    const turn = this.#turns.find(({ queue }) => queue.first !== undefined);
    const queues = [this.#history, this.#between];
    const item = findOldestQueue(turn === undefined ? queues : [...queues, turn.queue])?.shift()?.item;
    if (turn !== undefined) this.#afterRead(turn);
    return item;
  }

  #afterRead(turn: TurnItems): void {
    if (turn.queue.size <= SOFT_LIMIT / 2) turn.releaseRoom();
    if (turn.result === undefined || turn.queue.first !== undefined) return;
    this.#turns = this.#turns.filter((other) => other !== turn);
  }

  /** Returns the number of dropped updates. */
  #dropTurn(turn: TurnItems): number {
    turn.discarding = true;
    turn.releaseRoom();
    return turn.queue.clear().reduce((count, { item }) => count + countDropped(item), 0);
  }

  #waitForArrival(): Promise<void> {
    this.#arrival ??= deferred();
    return this.#arrival.promise;
  }

  #wake(): void {
    this.#arrival?.resolve();
    this.#arrival = undefined;
  }
}

/** Answers a request that nobody will read. */
export function refuseUnread(item: UpdateItem | RequestItem): void {
  if (item.kind === "request") item.fail(methodNotFound(item.request.method));
}

/** Refuses a dropped request. Returns the number of updates. */
function countDropped(item: SessionItem | ReadFailure | undefined): number {
  if (item?.kind === "request") refuseUnread(item);
  return item?.kind === "update" ? 1 : 0;
}

function countCharacters(item: UpdateItem | RequestItem): number {
  return item.kind === "update" ? item.line.length : item.request.line.length;
}

function isReadable<Entry extends { readonly item: SessionItem | ReadFailure }>(
  entry: Entry,
): entry is Entry & { readonly item: SessionItem } {
  return entry.item.kind !== "failure";
}
