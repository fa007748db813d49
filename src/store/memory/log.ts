/** An in-memory log. Stores events as JSON text, so that callers never share objects with the store. */
import type { Appended, LogEvent, ReadQuery } from "../../domain/index.ts";
import { nextLoopSlice } from "../../stdx/index.ts";
import { checkAppend, type PreparedAppend, type LogKind } from "../admission.ts";
import { clampBytes, fitRange, toEventRange } from "../page.ts";
import { completeEventText, eventSuffix } from "../event-text.ts";

/** Text parsed per event loop slice. Takes about 2 ms. */
const MAX_SLICE_CHARACTERS = 256 * 1024;

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

  /** The result of an earlier append with this id, if there was one. */
  findRepeated(id: string): Appended | undefined {
    const head = this.#appends.get(id);
    return head === undefined ? undefined : { head, repeated: true };
  }

  /** Appends once per append id. Throws the errors of `checkAppend`. */
  append(prepared: PreparedAppend, generation: number | undefined): Appended {
    const { append, bodies, head } = prepared;
    const repeated = this.findRepeated(append.id);
    if (repeated !== undefined) return repeated;
    checkAppend(prepared, { head: this.head, generation });
    for (const body of bodies) this.#bodies.push(body);
    this.#appends.set(append.id, head);
    return { head, repeated: false };
  }

  /** Returns a page of events, oldest first. Yields to the event loop while parsing. */
  async page<Event extends LogEvent>(query: Omit<ReadQuery, "sessionId">): Promise<Event[]> {
    const events: Event[] = [];
    let characters = 0;
    for (const { text } of this.texts(query)) {
      characters += text.length;
      const slice = characters > MAX_SLICE_CHARACTERS ? nextLoopSlice() : undefined;
      if (characters > MAX_SLICE_CHARACTERS) characters = text.length;
      if (slice !== undefined) await slice;
      events.push(JSON.parse(text) as Event);
    }
    return events;
  }

  texts(query: Omit<ReadQuery, "sessionId">): { seq: number; text: string }[] {
    const bytes = (range: { first: number; last: number }) => this.#bytes(range.first, range.last);
    const { first, last } = fitRange(toEventRange(query, this.head), query.order, bytes, clampBytes(query.maxBytes));
    return this.#bodies.slice(Math.max(first - 1, 0), Math.max(last, 0)).map((_, index) => {
      const seq = first + index;
      return { seq, text: this.text(seq) };
    });
  }

  text(seq: number): string {
    return completeEventText(this.#bodies[seq - 1] ?? "{}", eventSuffix(this.kind, this.id));
  }

  #bytes(first: number, last: number): number {
    let bytes = 0;
    for (let seq = first; seq <= last; seq += 1) bytes += this.#bodies[seq - 1]?.length ?? 0;
    return bytes;
  }
}
