/** The rules of a worker in tests: it takes every task that its host can run, including those of other hosts. */
import type { PlacementRules } from "../placement.ts";

export function takeEveryTask(host: string): PlacementRules {
  return {
    abilities: { host, labels: [], agents: [], unreadyAgents: [], onlyAgents: false, mirrors: true },
    preferLastHostMs: 0,
    expectsHost: () => false,
  };
}
