/** A log in memory: events as JSON, so that nobody holds a part of the store in hand. */
import type { Appended, LogEvent, ReadQuery } from "../../domain/index.ts";
import { nextLoopSlice } from "../../stdx/index.ts";
import { admit, type Admissible, type LogKind } from "../admission.ts";
import { clampBytes, fitRange, rangeOf } from "../page.ts";
import { completed, endingOf } from "../text.ts";

/** Parsed in one piece while others wait: some 2 ms of work. */
const SLICE_CHARACTERS = 256 * 1024;

export class MemoryLog {
  readonly kind: LogKind;
  readonly id: string;
  readonly #bodies: string[] = [];
  readonly #appends = new Map<string, number>();

  constructor(kind: LogKind, id: string) {
    this.kind = kind;
    this.id = id;
  }

  get head(): number {
    return this.#bodies.length;
  }

  /** The answer to an append of this id, if there was one. */
  repeated(id: string): Appended | undefined {
    const head = this.#appends.get(id);
    return head === undefined ? undefined : { head, repeated: true };
  }

  /** Throws why it is refused. What is repeated changes nothing. */
  append(admissible: Admissible, generation: number | undefined): Appended {
    const { append, bodies, head } = admissible;
    const repeated = this.repeated(append.id);
    if (repeated !== undefined) return repeated;
    admit(admissible, { head: this.head, generation });
    for (const body of bodies) this.#bodies.push(body);
    this.#appends.set(append.id, head);
    return { head, repeated: false };
  }

  /** The events that a query asks for, oldest first, as many as fit into a page. Parsed in pieces. */
  async page<Event extends LogEvent>(query: Omit<ReadQuery, "sessionId">): Promise<Event[]> {
    const events: Event[] = [];
    let characters = 0;
    for (const { text } of this.texts(query)) {
      characters += text.length;
      const slice = characters > SLICE_CHARACTERS ? nextLoopSlice() : undefined;
      if (characters > SLICE_CHARACTERS) characters = text.length;
      if (slice !== undefined) await slice;
      events.push(JSON.parse(text) as Event);
    }
    return events;
  }

  texts(query: Omit<ReadQuery, "sessionId">): { seq: number; text: string }[] {
    const bytes = (range: { first: number; last: number }) => this.#bytes(range.first, range.last);
    const { first, last } = fitRange(rangeOf(query, this.head), query.order, bytes, clampBytes(query.maxBytes));
    return this.#bodies.slice(Math.max(first - 1, 0), Math.max(last, 0)).map((_, index) => {
      const seq = first + index;
      return { seq, text: this.text(seq) };
    });
  }

  text(seq: number): string {
    return completed(this.#bodies[seq - 1] ?? "{}", endingOf(this.kind, this.id));
  }

  #bytes(first: number, last: number): number {
    let bytes = 0;
    for (let seq = first; seq <= last; seq += 1) bytes += this.#bodies[seq - 1]?.length ?? 0;
    return bytes;
  }
}
