/** What a session's reader reads: in order, bounded, and each item once. */
import { RookeryError } from "../../domain/errors.ts";
import { deferred, type Deferred } from "../../stdx/index.ts";
import type { IncomingRequest } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";

/**
 * When an update came: while the session was being loaded (history), within a turn, or outside of any. The last are
 * what an agent says before the first prompt, after its response, and late of a turn that was cancelled.
 */
export type When = "replay" | "turn" | "between";

export interface UpdateItem {
  readonly kind: "update";
  readonly when: When;
  /** As it came, also where its kind is unknown. */
  readonly update: acp.SessionUpdate;
  readonly notification: acp.SessionNotification;
  /** The text of the whole message. */
  readonly line: string;
}

/** A request that no handler took; whoever reads it answers it. */
export interface RequestItem {
  readonly kind: "request";
  readonly request: IncomingRequest;
  respond(result: unknown): void;
  fail(error: unknown): void;
}

export interface StopItem {
  readonly kind: "stop";
  readonly response: acp.PromptResponse;
}

export type SessionItem = UpdateItem | RequestItem | StopItem;

/** Above this the agent is made to wait for the reader. */
const SOFT_LIMIT = 1024 * 1024;
/** Where it cannot be made to wait, the reading fails here. */
const HARD_LIMIT = 64 * 1024 * 1024;
/** Outside of a turn nobody may ever read: the oldest go. */
const BETWEEN_LIMIT = 1024 * 1024;

export class Items {
  #items: (SessionItem | { kind: "broken"; error: Error })[] = [];
  #read = 0;
  #size = 0;
  #between = 0;
  #arrival: Deferred<void> | undefined;
  #room: Deferred<void> | undefined;
  #dropped = 0;
  #overflown = false;

  /** Updates from outside of any turn that nobody read in time. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Returns what the agent has to wait for; undefined while there is room. */
  push(item: SessionItem, patient: boolean): Promise<void> | undefined {
    if (this.#overflown) return undefined;
    this.#items.push(item);
    this.#size += sizeOf(item);
    if (item.kind === "update" && item.when === "between") this.#addBetween(item);
    this.#wake();
    if (this.#size > HARD_LIMIT) this.#overflow();
    if (!patient || this.#size <= SOFT_LIMIT) return undefined;
    this.#room ??= deferred();
    return this.#room.promise;
  }

  fail(error: Error): void {
    this.#items.push({ kind: "broken", error });
    this.#wake();
  }

  /** Waits for the next one; rejects where a turn failed. */
  async next(): Promise<SessionItem> {
    for (;;) {
      const item = this.#shift();
      if (item === undefined) {
        this.#arrival ??= deferred();
        await this.#arrival.promise;
        continue;
      }
      if (item.kind === "broken") throw item.error;
      return item;
    }
  }

  /** Everything that is there now. */
  take(): SessionItem[] {
    const taken: SessionItem[] = [];
    for (let item = this.#shift(); item !== undefined; item = this.#shift()) {
      if (item.kind !== "broken") taken.push(item);
    }
    return taken;
  }

  #shift() {
    const item = this.#items[this.#read];
    if (item === undefined) return undefined;
    this.#read += 1;
    if (this.#read === this.#items.length || this.#read > 1024) {
      this.#items = this.#items.slice(this.#read);
      this.#read = 0;
    }
    this.#overflown = false;
    if (item.kind !== "broken") this.#size -= sizeOf(item);
    if (item.kind === "update" && item.when === "between") this.#between -= sizeOf(item);
    if (this.#size <= SOFT_LIMIT / 2) {
      this.#room?.resolve();
      this.#room = undefined;
    }
    return item;
  }

  #addBetween(item: UpdateItem): void {
    this.#between += sizeOf(item);
    while (this.#between > BETWEEN_LIMIT) {
      const oldest = this.#items.findIndex(
        (other, at) => at >= this.#read && other.kind === "update" && other.when === "between",
      );
      const [gone] = this.#items.splice(oldest, 1);
      if (gone === undefined || gone.kind === "broken") return;
      this.#between -= sizeOf(gone);
      this.#size -= sizeOf(gone);
      this.#dropped += 1;
    }
  }

  #overflow(): void {
    for (const item of this.#items) {
      if (item.kind === "request") item.fail(new Error("nobody reads this session"));
    }
    this.#items = [];
    this.#read = 0;
    this.#size = 0;
    this.#between = 0;
    this.#overflown = true;
    const message = `more than ${HARD_LIMIT} bytes of updates were not read: read them, or give an \`update\` handler`;
    this.fail(new RookeryError("input_too_large", message));
  }

  #wake(): void {
    this.#arrival?.resolve();
    this.#arrival = undefined;
  }
}

function sizeOf(item: SessionItem): number {
  if (item.kind === "update") return item.line.length;
  return item.kind === "request" ? item.request.line.length : 1;
}
