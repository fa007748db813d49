/**
 * Joins the pages of a task's log with the events of the feed that arrive while the pages are read. Each event once, in
 * order.
 */
import type { TaskEvent } from "../../../src/domain/task/events.ts";

export class TaskEventList {
  readonly #events: TaskEvent[] = [];
  #held: TaskEvent[] | undefined = [];

  /** The next page from the server. */
  addPage(page: readonly TaskEvent[]): void {
    for (const event of page) this.#append(event);
  }

  /** After the last page: adds the events of the feed that arrived in the meantime. */
  start(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.add(held);
  }

  get isStarted(): boolean {
    return this.#held === undefined;
  }

  /** Events of the feed. */
  add(events: readonly TaskEvent[]): void {
    if (this.#held !== undefined) return void this.#held.push(...events);
    for (const event of events) this.#append(event);
  }

  /** A copy, so that it differs from the previous one. */
  events(): readonly TaskEvent[] {
    return [...this.#events];
  }

  #append(event: TaskEvent): void {
    if (event.seq === (this.#events.at(-1)?.seq ?? 0) + 1) this.#events.push(event);
  }
}
