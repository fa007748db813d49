/** What is done between two turns, such as a change of the agent: what is asked for in a turn waits for its end. */
import { RookeryError } from "../domain/index.ts";
import { deferred, type Deferred } from "../stdx/index.ts";

/** Of each kind one waits at most: a later one takes the place of an earlier one. */
export type WorkKind = "settings" | "conversation";

interface ScheduledWork {
  readonly work: () => Promise<void>;
  readonly settled: Deferred<void>;
}

const REPLACED_MESSAGES: Record<WorkKind, string> = {
  settings: "another change of the session's settings was asked for before this one could be made",
  conversation: "another conversation was given before this one could take the old one's place",
};

export interface DeferredWorkOptions {
  /** Is there something that must end first? */
  readonly isBusy: () => boolean;
  /** Called when something was done, and also where it failed. */
  readonly onOver: () => void;
}

export class DeferredWork {
  readonly #options: DeferredWorkOptions;
  readonly #wishes = new Map<WorkKind, ScheduledWork>();
  #current: { readonly kind: WorkKind; readonly done: Promise<void> } | undefined;

  constructor(options: DeferredWorkOptions) {
    this.#options = options;
  }

  /** Something is being done. */
  get isOn(): boolean {
    return this.#current !== undefined;
  }

  /** Resolves when what is being done is over, however it went. */
  async over(): Promise<void> {
    await this.#current?.done;
  }

  /** The same for all of a kind that was asked for. */
  async settled(kind: WorkKind): Promise<void> {
    while (this.#wishes.has(kind) || this.#current?.kind === kind) {
      const waiting = this.#wishes.get(kind)?.settled.promise ?? this.#current?.done;
      await waiting?.catch(() => undefined);
    }
  }

  /** Settles as the work does. Rejects with `interrupted` where a later one takes its place before it was begun. */
  want(kind: WorkKind, work: () => Promise<void>): Promise<void> {
    this.withdraw(kind);
    const settled = deferred();
    this.#wishes.set(kind, { work, settled });
    this.begin();
    return settled.promise;
  }

  /** What waits of this kind is not wanted any more. */
  withdraw(kind: WorkKind): void {
    this.#refuse(kind, new RookeryError("interrupted", `${REPLACED_MESSAGES[kind]}: what was asked for last is what counts`));
  }

  /** Begins what waits, if nothing else is going on. To be called when something has ended. */
  begin(): void {
    const [next] = this.#wishes;
    if (next === undefined || this.#current !== undefined || this.#options.isBusy()) return;
    const [kind, { work, settled }] = next;
    this.#wishes.delete(kind);
    const done = work()
      .then(
        () => settled.resolve(),
        (error: unknown) => settled.reject(error),
      )
      .finally(() => {
        this.#current = undefined;
        this.#options.onOver();
      });
    this.#current = { kind, done };
  }

  /** Nothing is begun any more: what waits is told so. */
  end(reason: RookeryError): void {
    for (const kind of this.#wishes.keys()) this.#refuse(kind, reason);
  }

  #refuse(kind: WorkKind, reason: RookeryError): void {
    const wish = this.#wishes.get(kind);
    this.#wishes.delete(kind);
    wish?.settled.reject(reason);
  }
}
