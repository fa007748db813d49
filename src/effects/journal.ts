/** The default effect host. It journals each outcome in the store, in the same commit as the events of the effect. */
import {
  keyText,
  type Effect,
  type EffectHost,
  type EventBody,
  type JournalEntry,
  type JournalWrite,
  type Settled,
} from "../domain/index.ts";

type WriteWithJournal<Result> = (events: readonly EventBody[], journal: readonly JournalWrite[]) => Result;

/** The ways to write events together with journal entries. */
export interface JournalWriter {
  /** Resolves when they are durable. */
  readonly commit: WriteWithJournal<Promise<void>>;
  /**
   * Queues them in commit order without waiting for the disk. Used for repeatable effects: a crash can lose such an entry
   * only together with everything that followed it, and the effect then runs again. Default: `commit`.
   */
  readonly queue?: WriteWithJournal<void> | undefined;
  /** Commits them, and nothing else with them. Rejects if they are refused. Default: `commit`. */
  readonly commitAlone?: WriteWithJournal<Promise<void>> | undefined;
}

/** Opens the host of one turn. `before` holds the entries that earlier processes journaled for this turn. */
export function journalHost(
  before: readonly JournalEntry[],
  { commit, queue, commitAlone = commit }: JournalWriter,
): EffectHost {
  const known = new Map(before.map((entry) => [keyText(entry.key), entry]));
  return {
    isFinished: (key) => known.get(keyText(key))?.finished === true,
    async run<T>(effect: Effect<T>): Promise<Settled<T>> {
      const { key } = effect;
      const entry = known.get(keyText(key));
      if (entry?.finished === true) return { how: "replayed", value: effect.parse(entry.value) };
      if (entry !== undefined && !effect.repeatable) {
        const { value, events = [] } = effect.lost();
        await commit(events, [{ op: "finish", key, value }]);
        return { how: "lost", value };
      }
      const isNew = entry === undefined;
      const write: typeof commit = async (events, journal) =>
        effect.repeatable && queue !== undefined ? queue(events, journal) : commit(events, journal);
      if (effect.instant === true) {
        const { value, events = [] } = await effect.perform();
        const writeInstant = effect.refusable === true ? commitAlone : write;
        await writeInstant([...(isNew ? (effect.started ?? []) : []), ...events], [{ op: "finish", key, value }]);
        return { how: "performed", value };
      }
      const startWritten =
        isNew && needsStartEntry(effect) ? write(effect.started ?? [], [{ op: "start", key }]) : undefined;
      if (effect.repeatable)
        startWritten?.catch(() => undefined); // awaited below, after perform
      else await startWritten;
      const { value, events = [] } = await effect.perform();
      await startWritten;
      await write(events, [{ op: "finish", key, value }]);
      return { how: "performed", value };
    },
  };
}

/**
 * A repeatable effect without start events needs no start entry. One with start events needs it so that a restart does
 * not record them twice, but it does not wait for the disk.
 */
function needsStartEntry({ repeatable, started = [] }: Effect<unknown>): boolean {
  return !repeatable || started.length > 0;
}
