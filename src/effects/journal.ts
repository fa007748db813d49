/** The default effect host: outcomes are journalled in the store, in the same commit as the events they caused. */
import {
  keyText,
  type Effect,
  type EffectHost,
  type EventBody,
  type JournalEntry,
  type JournalWrite,
  type Settled,
} from "../domain/index.ts";

/** Commits events and journal entries together; resolves when they are durable. */
export type CommitTogether = (events: readonly EventBody[], journal: readonly JournalWrite[]) => Promise<void>;

/** The same, in order with what is committed, but nobody waits for it: what follows is durable only if it is. */
export type NoteTogether = (events: readonly EventBody[], journal: readonly JournalWrite[]) => void;

/**
 * `before` is what an earlier process journalled of the same turn. What may be repeated is only noted, where that can be
 * done: it is lost at worst together with all that came of it, and is done again then.
 */
export function journalHost(before: readonly JournalEntry[], commit: CommitTogether, note?: NoteTogether): EffectHost {
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
      const fresh = entry === undefined;
      const write: CommitTogether = async (events, journal) =>
        effect.repeatable && note !== undefined ? note(events, journal) : commit(events, journal);
      if (effect.instant === true) {
        const { value, events = [] } = await effect.perform();
        await write([...(fresh ? (effect.started ?? []) : []), ...events], [{ op: "finish", key, value }]);
        return { how: "performed", value };
      }
      const marked = fresh && mustBeMarked(effect) ? write(effect.started ?? [], [{ op: "start", key }]) : undefined;
      if (effect.repeatable)
        marked?.catch(() => undefined); // told below, when the rest is over
      else await marked;
      const { value, events = [] } = await effect.perform();
      await marked;
      await write(events, [{ op: "finish", key, value }]);
      return { how: "performed", value };
    },
  };
}

/**
 * What may be repeated and leaves no trace needs no mark of its start. One that leaves a trace is marked together with
 * it, so that the trace is left once, but need not wait for the disk.
 */
function mustBeMarked({ repeatable, started = [] }: Effect<unknown>): boolean {
  return !repeatable || started.length > 0;
}
