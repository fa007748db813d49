/**
 * Notices sessions that another process deletes. A deletion leaves no event in the log, so the newest sessions of the
 * store are compared with those that were there before. Runs only while a stream has `deletions=true`.
 */
import type { Store } from "../../../domain/index.ts";

/** As many as a roster lists. The deletion of an older session is not noticed. */
const MAX_COMPARED = 1_000;
/** Above it, a new roster replaces the old ones while nobody watches. Otherwise the next comparison makes room. */
const MAX_KNOWN = 20_000;
/** A comparison and the request that deletes a session notice the deletion within moments of each other. */
const MAX_ANNOUNCED = 1_000;

export interface DeletionWatchOptions {
  readonly store: Pick<Store, "list" | "summary">;
  /** Between two comparisons. */
  readonly intervalMs: number;
  onDeleted(sessionId: string): void;
}

export class DeletionWatch {
  readonly #options: DeletionWatchOptions;
  readonly #known = new Set<string>();
  /** The last deletions. A list that was read before may still have these sessions. */
  readonly #announced = new Set<string>();
  #watchers = 0;
  #timer: NodeJS.Timeout | undefined;
  #isComparing = false;

  constructor(options: DeletionWatchOptions) {
    this.#options = options;
  }

  /** Compares until the returned function is called. */
  watch(): () => void {
    this.#watchers += 1;
    this.#timer ??= setInterval(() => void this.#compare(), this.#options.intervalMs).unref();
    return () => {
      this.#watchers -= 1;
      if (this.#watchers === 0) this.#stop();
    };
  }

  /**
   * Adds the sessions of a roster. Clients read one before they watch, so rosters are kept while nobody watches: the
   * next watcher may have read any of them.
   */
  addRoster(sessionIds: readonly string[]): void {
    if (this.#watchers === 0 && this.#known.size + sessionIds.length > MAX_KNOWN) this.#known.clear();
    this.#add(sessionIds);
  }

  /** Adds sessions that a stream shows, so that their deletion is noticed even if no comparison has listed them yet. */
  addKnown(sessionIds: Iterable<string>): void {
    if (this.#watchers > 0) this.#add(sessionIds);
  }

  #add(sessionIds: Iterable<string>): void {
    for (const id of sessionIds) {
      this.#announced.delete(id); // a reader has the session again
      if (this.#known.size < MAX_KNOWN) this.#known.add(id);
    }
  }

  /** Call this before a deletion is announced. False if it was announced already. */
  markAnnounced(sessionId: string): boolean {
    this.#known.delete(sessionId);
    if (this.#announced.has(sessionId)) return false;
    const [oldest = ""] = this.#announced;
    if (this.#announced.size >= MAX_ANNOUNCED) this.#announced.delete(oldest);
    this.#announced.add(sessionId);
    return true;
  }

  close(): void {
    this.#stop();
    this.#known.clear();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** If the store cannot be read, the next comparison tries again. */
  async #compare(): Promise<void> {
    if (this.#isComparing) return;
    this.#isComparing = true;
    try {
      const listed = await this.#options.store.list({ limit: MAX_COMPARED });
      const ids = new Set(listed.map(({ id }) => id));
      const oldest = listed.length < MAX_COMPARED ? "" : (listed.at(-1)?.id ?? "");
      for (const id of this.#known) {
        if (ids.has(id)) continue;
        // Session ids sort by age, and the list leaves out copies that are not complete.
        if (id > oldest && (await this.#options.store.summary(id)) === undefined) this.#announce(id);
        if (id <= oldest) this.#known.delete(id);
      }
      this.addKnown([...ids].filter((id) => !this.#announced.has(id))); // the last watcher may have left
    } catch {
      // the streams report what is wrong with the store
    } finally {
      this.#isComparing = false;
    }
  }

  /** Keeps the session for the next watcher if the last one has left. */
  #announce(id: string): void {
    if (this.#watchers > 0 && this.#known.delete(id)) this.#options.onDeleted(id);
  }
}
