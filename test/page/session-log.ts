/** Writes logs of sessions into a store, for tests that look at them in a browser. */
import { newId, type EventBody, type EventDraft, type Store } from "../../src/domain/index.ts";

export type BodyOfTurn = EventBody & { readonly turnId?: string | undefined };

const MAX_APPEND = 500;

/** A log that grows. Times are a second apart. */
export class SessionLog {
  readonly id = newId("ses");
  readonly #store: Store;
  readonly #start: number;
  readonly #agent: string;
  #head = 0;

  constructor(store: Store, { start = Date.parse("2026-11-17T10:00:00Z"), agent = "demo" } = {}) {
    this.#store = store;
    this.#start = start;
    this.#agent = agent;
  }

  get head(): number {
    return this.#head;
  }

  async open(cwd = "/tmp", title?: string): Promise<this> {
    const settings = { backend: "api", cwd, permissions: "ask", model: "demo", ...(title !== undefined && { title }) };
    await this.add([{ type: "session.opened", ...settings, turnId: undefined } as BodyOfTurn]);
    return this;
  }

  /** Events belong to `turn_1` unless they say otherwise. */
  async add(bodies: readonly BodyOfTurn[]): Promise<void> {
    for (let from = 0; from < bodies.length; from += MAX_APPEND) {
      const events = bodies.slice(from, from + MAX_APPEND).map((body, index): EventDraft => {
        const at = new Date(this.#start + (this.#head + index) * 1_000).toISOString();
        const { turnId = "turn_1", ...rest } = body;
        const isOfTurn = !("turnId" in body) || body.turnId !== undefined;
        return { ...(isOfTurn && { turnId }), at, agent: this.#agent, ...rest };
      });
      await this.#store.append({ sessionId: this.id, id: newId("app"), expectedHead: this.#head, events });
      this.#head += events.length;
    }
  }
}
