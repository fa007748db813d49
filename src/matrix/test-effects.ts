/** Stands in the place of `effects/` in the child's bundle: the same host, with boundaries around each effect. */
import type { Effect, EffectHost, EffectKey, JournalEntry, Settled } from "../domain/index.ts";
import { journalHost as realHost, type CommitWithJournal, type QueueWithJournal } from "../effects/journal.ts";
import { reach } from "./test-boundaries.ts";

export type { CommitWithJournal, QueueWithJournal } from "../effects/journal.ts";

/** How often an effect was performed, performed again, replayed or lost. */
export const settledSoFar: Record<string, number> = {};

const turns: string[] = [];

export function journalHost(
  before: readonly JournalEntry[],
  commit: CommitWithJournal,
  note?: QueueWithJournal,
): EffectHost {
  const host = realHost(before, commit, note);
  const begun = new Set(before.filter(({ finished }) => !finished).map(({ key }) => nameOf(key)));
  return {
    isFinished: (key) => host.isFinished(key),
    async run<T>(effect: Effect<T>): Promise<Settled<T>> {
      const name = nameOf(effect.key);
      reach(`${name} asked for`);
      const settled = await host.run({
        ...effect,
        perform: async () => {
          reach(`${name} before`);
          const performed = await effect.perform();
          reach(`${name} after`);
          return performed;
        },
      });
      const how = settled.how === "performed" && begun.has(name) ? "rerun" : settled.how;
      settledSoFar[how] = (settledSoFar[how] ?? 0) + 1;
      reach(`${name} settled`);
      return settled;
    },
  };
}

/** Turns have random names; which of them it is, is the same in every run. */
function nameOf({ turnId, step, kind, id }: EffectKey): string {
  if (!turns.includes(turnId)) turns.push(turnId);
  return `effect ${turns.indexOf(turnId) + 1}.${step} ${kind} ${id}`;
}
