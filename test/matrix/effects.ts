/** Replaces `effects/` in the bundle of the child: the same host with boundaries around each effect. */
import type { Effect, EffectHost, EffectKey, JournalEntry, Settled } from "../../src/domain/index.ts";
import { journalHost as realHost, type JournalWriter } from "../../src/effects/journal.ts";
import { reach } from "./boundaries.ts";

export type { JournalWriter } from "../../src/effects/journal.ts";

/** Counts how often effects were performed, performed again, replayed or lost. */
export const settledCounts: Record<string, number> = {};

const turns: string[] = [];

export function journalHost(before: readonly JournalEntry[], writer: JournalWriter): EffectHost {
  const host = realHost(before, writer);
  const begun = new Set(before.filter(({ finished }) => !finished).map(({ key }) => formatName(key)));
  return {
    isFinished: (key) => host.isFinished(key),
    async run<T>(effect: Effect<T>): Promise<Settled<T>> {
      const name = formatName(effect.key);
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
      settledCounts[how] = (settledCounts[how] ?? 0) + 1;
      reach(`${name} settled`);
      return settled;
    },
  };
}

/** Numbers the turns, because their ids are random. */
function formatName({ turnId, step, kind, id }: EffectKey): string {
  if (!turns.includes(turnId)) turns.push(turnId);
  return `effect ${turns.indexOf(turnId) + 1}.${step} ${kind} ${id}`;
}
