/** Keeps notifications of unknown sessions until the agent's answer to a setup shows who owns the session. */
import type { IncomingNotification } from "../../connection/incoming.ts";
import { HARD_LIMIT } from "../buffer/limits.ts";

/** Memory of an entry besides its text, in characters. */
const ENTRY_OVERHEAD = 256;

interface EarlyEntry {
  readonly at: number;
  readonly notification: IncomingNotification;
}

export class EarlyNotifications {
  readonly #bySession = new Map<string, EarlyEntry[]>();
  #size = 0;
  #count = 0;

  /** Returns false, and keeps nothing, if more than 64 MiB would wait. */
  add(sessionId: string, notification: IncomingNotification): boolean {
    const size = countEntryCharacters(notification);
    if (this.#size + size > HARD_LIMIT) return false;
    const entry: EarlyEntry = { at: (this.#count += 1), notification };
    const entries = this.#bySession.get(sessionId);
    if (entries === undefined) this.#bySession.set(sessionId, [entry]);
    else entries.push(entry);
    this.#size += size;
    return true;
  }

  /** Removes and returns the notifications of one session, in the order of arrival. */
  take(sessionId: string): IncomingNotification[] {
    const entries = this.#bySession.get(sessionId) ?? [];
    this.#bySession.delete(sessionId);
    for (const { notification } of entries) this.#size -= countEntryCharacters(notification);
    return entries.map(({ notification }) => notification);
  }

  /** Removes and returns the notifications of all sessions that `isTaken` accepts, in the order of arrival. */
  takeAll(isTaken: (sessionId: string) => boolean = () => true): IncomingNotification[] {
    const entries: EarlyEntry[] = [];
    for (const [sessionId, waiting] of [...this.#bySession]) {
      if (!isTaken(sessionId)) continue;
      entries.push(...waiting);
      this.take(sessionId);
    }
    return entries.sort((one, other) => one.at - other.at).map(({ notification }) => notification);
  }
}

function countEntryCharacters({ line }: IncomingNotification): number {
  return line.length + ENTRY_OVERHEAD;
}
