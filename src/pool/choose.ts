/** Chooses the next task to start, within every limit. A pure function. */
import type { Busy, Candidate } from "../domain/index.ts";

/**
 * Prefers the highest priority, then the repository with the fewest running tasks (so that a hundred tasks of one
 * repository do not block another), then the oldest task. A task that a limit holds back does not block later ones.
 * `canRun`: whether this process can run the task. Default: it can run all.
 */
export function chooseNext(
  candidates: readonly Candidate[],
  busy: readonly Busy[],
  maxRunning: number,
  canRun: (candidate: Candidate) => boolean = () => true,
): string | undefined {
  if (busy.length >= maxRunning) return undefined;
  const atWork = (candidate: Candidate) => count(busy, ({ repository }) => repository === candidate.repository);
  return candidates
    .filter((candidate) => isWithinLimits(candidate, busy) && canRun(candidate))
    .toSorted((a, b) => b.priority - a.priority || atWork(a) - atWork(b) || a.order - b.order)[0]?.id;
}

function isWithinLimits({ repository, agent, provider, limits }: Candidate, busy: readonly Busy[]): boolean {
  const within = (limit: number | undefined, isOfIt: (other: Busy) => boolean) =>
    limit === undefined || count(busy, isOfIt) < limit;
  return (
    within(limits.repository, (other) => other.repository === repository) &&
    within(limits.agent, (other) => other.agent === agent) &&
    within(limits.provider, (other) => other.provider === provider)
  );
}

function count(busy: readonly Busy[], isOfIt: (other: Busy) => boolean): number {
  return busy.filter(isOfIt).length;
}
