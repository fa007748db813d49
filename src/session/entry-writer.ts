/** Writes a recorder's entries to the log. Retries transient failures, and replaces events that the store refuses. */
import {
  RookeryError,
  isRookeryError,
  messageOf,
  newId,
  type ErrorCode,
  type EventDraft,
  type JournalWrite,
} from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import type { LogHead } from "./log-head.ts";
import { rejectWaiters, type PendingEntry, type PendingEntries } from "./pending.ts";
import { isTransientFailure, retryTimeoutFor, retryPause } from "./store-retry.ts";
import { createCutNotice, substituteEvent } from "./writable.ts";

const CLOSING_TIMEOUT_MS = 2_000;

export interface EntryWriterOptions {
  readonly log: LogHead;
  readonly clock: Clock;
  /** The entries that are queued behind the current one. */
  readonly pending: PendingEntries;
  /**
   * How long transient failures of the store are retried before waiters are rejected, in milliseconds. Default: 30 s.
   */
  readonly patienceMs?: number | undefined;
  /** Called once per outage, when the store has failed for `patienceMs`. */
  readonly onOutage: (failure: unknown) => void;
  readonly onRefused: (turnId: string | undefined, failure: RookeryError) => void;
}

export class EntryWriter {
  readonly #options: EntryWriterOptions;
  /** When the store started to fail, by `performance.now()`. */
  #failingSince: number | undefined;
  #isOutage = false;
  #failure: unknown;
  /** When retries end, by `performance.now()`. */
  #deadline = Infinity;
  #endPause: () => void = () => undefined;

  constructor(options: EntryWriterOptions) {
    this.#options = options;
  }

  /** Call it when the session closes. Retries stop two seconds later. */
  close(): void {
    this.#deadline = Math.min(this.#deadline, performance.now() + CLOSING_TIMEOUT_MS);
  }

  /** Call it if nothing can be written anymore. A write that is being retried fails with this. */
  stop(failure: unknown): void {
    this.#failure ??= failure;
    this.#endPause();
  }

  /** Throws only errors that break the recorder. */
  async write(entry: PendingEntry): Promise<void> {
    const { drafts, journal, alone } = entry;
    if (drafts.length === 0 && journal.length === 0) return;
    try {
      await this.#append(entry, drafts, journal);
    } catch (failure) {
      if (isWriterFailure(failure)) throw failure;
      if (!alone) await this.#writeSingly(entry, failure);
      rejectWaiters([entry], failure); // the entry was not committed as a whole
    }
  }

  /**
   * Handles an entry that the store refused: appends each event alone, and replaces those that are refused again.
   * Throws the failure if the store refuses even a notice, because then the events are not the cause.
   */
  async #writeSingly(entry: PendingEntry, failure: unknown): Promise<void> {
    for (const { at, agent, turnId, ...body } of entry.drafts) {
      const stamp = { at, agent, turnId };
      const why = messageOf(failure).slice(0, 500);
      const notice = createCutNotice(`an event of type ${body.type} was omitted: ${why}`);
      if (await this.#isAppended(entry, [{ ...body, ...stamp }], [])) continue;
      this.#options.onRefused(turnId, notRecorded(body.type, why));
      if (await this.#isAppended(entry, [{ ...substituteEvent(body, why), ...stamp }], [])) continue;
      if (!(await this.#isAppended(entry, [{ ...notice, ...stamp }], []))) throw failure;
    }
    for (const write of entry.journal) {
      if (await this.#isAppended(entry, [], [write])) continue;
      const { turnId } = write.op === "forget" ? write : write.key;
      this.#options.onRefused(turnId, notRecorded(undefined, messageOf(failure)));
    }
  }

  async #isAppended(
    entry: PendingEntry,
    drafts: readonly EventDraft[],
    journal: readonly JournalWrite[],
  ): Promise<boolean> {
    try {
      await this.#append(entry, drafts, journal);
      return true;
    } catch (failure) {
      if (isWriterFailure(failure)) throw failure;
      return false;
    }
  }

  /** Retries transient failures until the append succeeds, the entry is withdrawn or the session closes. */
  async #append(entry: PendingEntry, events: readonly EventDraft[], journal: readonly JournalWrite[]): Promise<void> {
    const id = newId("app", this.#options.clock.now());
    for (let attempt = 0; !entry.withdrawn; attempt += 1) {
      try {
        await this.#options.log.append({ id, events, journal });
        this.#failingSince = undefined;
        this.#isOutage = false;
        return;
      } catch (failure) {
        if (!isTransientFailure(failure) || performance.now() >= this.#deadline) throw failure;
        this.#report(entry, failure);
      }
      await this.#pause(retryPause(attempt));
      if (this.#failure !== undefined) throw this.#failure as Error;
    }
  }

  #report(entry: PendingEntry, failure: unknown): void {
    this.#failingSince ??= performance.now();
    const isOutage = performance.now() - this.#failingSince >= (this.#options.patienceMs ?? retryTimeoutFor(failure));
    rejectWaiters([entry, ...this.#options.pending], failure, isOutage ? "all" : "impatient");
    if (!isOutage || this.#isOutage) return;
    this.#isOutage = true;
    this.#options.onOutage(failure);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endPause = () => undefined;
  }
}

export function notRecorded(type: string | undefined, problem: string): RookeryError {
  const what = type === undefined ? "a result of the agent" : `an event of type ${type}`;
  const message = `${what} could not be recorded in full: ${problem.slice(0, 500)}; parts of it were omitted`;
  return new RookeryError("agent_failed", message);
}

/** After one of these errors, nothing can be written: the lease, the session or the store is gone. */
const BREAKING: readonly ErrorCode[] = [
  "lease_lost",
  "session_not_found",
  "store_closed",
  "store_corrupt",
  "store_newer",
  "store_replaced",
  "log_corrupt",
];

/** True if the store or the lease failed, so that other events would fail in the same way. */
export function isWriterFailure(failure: unknown): boolean {
  return isRookeryError(failure) && (BREAKING.includes(failure.code) || isTransientFailure(failure));
}
