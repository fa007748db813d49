/** Decides which tasks a process may claim: what its host and worker have, and which host should take a task first. */
import { findPlacementProblem, type Candidate, type TaskState, type WorkerAbilities } from "../domain/index.ts";

export interface PlacementRules {
  readonly abilities: WorkerAbilities;
  /** How long other hosts leave an interrupted task to its last host, in milliseconds. */
  readonly preferLastHostMs: number;
  /** Whether a worker of this host takes tasks, or stopped so recently that it may come back. */
  readonly expectsHost: (host: string) => boolean;
}

/** The rules of a process that has no worker record: its labels are those of its backends, and it tries every agent. */
export function plainPlacement(host: string | undefined, labels: readonly string[] = []): PlacementRules {
  return {
    abilities: { host, labels, agents: [], unreadyAgents: [], onlyAgents: false, mirrors: false },
    preferLastHostMs: 0,
    expectsHost: () => false,
  };
}

export function canPlace(candidate: Candidate, { abilities }: PlacementRules): boolean {
  return findPlacementProblem(candidate, abilities) === undefined;
}

/**
 * False while the last host of an interrupted task may continue it: that host has the files of its programs. If its clock
 * is further ahead than it may take, nobody can say how long it has had, and others do not wait.
 */
export function isOurTurn(
  { host, interruptedAt }: Pick<TaskState, "host" | "interruptedAt">,
  { abilities, preferLastHostMs, expectsHost }: PlacementRules,
  now: number,
): boolean {
  if (host === undefined || interruptedAt === undefined || host === abilities.host) return true;
  return Math.abs(now - Date.parse(interruptedAt)) >= preferLastHostMs || !expectsHost(host);
}
