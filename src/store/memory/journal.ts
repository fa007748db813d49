/** The journal of one session in memory. Values are kept as JSON text. */
import { keyText, type JournalEntry } from "../../domain/index.ts";
import type { JournalText } from "../admission.ts";

interface MemoryJournalEntry extends Pick<JournalEntry, "key" | "finished"> {
  readonly value: string | undefined;
}

export class MemoryJournal {
  readonly #sessionId: string;
  readonly #entries = new Map<string, MemoryJournalEntry>();

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  write(write: JournalText): void {
    switch (write.op) {
      case "start":
        if (!this.#entries.has(keyText(write.key))) this.#set(write.key, { finished: false, value: undefined });
        return;
      case "finish":
        return this.#set(write.key, { finished: true, value: write.value });
      case "forget":
        for (const [name, { key }] of this.#entries) if (key.turnId === write.turnId) this.#entries.delete(name);
    }
  }

  entriesOf(turnId: string): JournalEntry[] {
    return Array.from(this.#entries.values())
      .filter(({ key }) => key.turnId === turnId)
      .map(({ key, finished, value }) => ({
        key,
        finished,
        value: value === undefined ? undefined : (JSON.parse(value) as unknown),
      }));
  }

  #set(key: JournalEntry["key"], entry: Omit<MemoryJournalEntry, "key">): void {
    this.#entries.set(keyText(key), { key: { ...key, sessionId: this.#sessionId }, ...entry });
  }
}
