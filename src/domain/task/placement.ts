/**
 * Decides where a task may run: which host, labels and agents it needs, and which workers have them. Pure functions.
 */
import type { WorkerRecord } from "../worker.ts";
import type { TaskSpec } from "./spec.ts";

/** What a task requires of a worker, in addition to the agent of its first stage. */
export interface TaskPlacement {
  /** The host that has the repository. Undefined if the store belongs to one host. */
  readonly host?: string | undefined;
  /** True if other hosts get the repository from its remote. */
  readonly hasRemote?: boolean | undefined;
  readonly labels?: readonly string[] | undefined;
  /** Agents of the other stages. */
  readonly agents?: readonly string[] | undefined;
}

/** What decides whether a worker takes a task. `host` is undefined if the store belongs to one host. */
export type WorkerAbilities = Pick<WorkerRecord, "labels" | "agents" | "unreadyAgents" | "onlyAgents" | "mirrors"> & {
  readonly host: string | undefined;
};

/** Undefined if the task can run anywhere. */
export function taskPlacement({ host, remote, labels, agent, stages }: TaskSpec): TaskPlacement | undefined {
  const others = stages.flatMap((stage) => (stage.kind === "agent" && stage.agent !== agent ? [stage.agent] : []));
  const placement = {
    ...(host !== undefined && { host, ...(remote !== undefined && { hasRemote: true }) }),
    ...(labels !== undefined && labels.length > 0 && { labels: [...new Set(labels)].sort() }),
    ...(others.length > 0 && { agents: [...new Set(others)].sort() }),
  };
  return Object.keys(placement).length === 0 ? undefined : placement;
}

export type PlacementProblem =
  | { readonly lacks: "host"; readonly host: string }
  | { readonly lacks: "label"; readonly label: string }
  | { readonly lacks: "agent"; readonly agent: string };

/** Why a worker cannot run a task of this agent. Undefined if it can. */
export function findPlacementProblem(
  { agent, placement = {} }: { readonly agent: string; readonly placement?: TaskPlacement | undefined },
  worker: WorkerAbilities,
): PlacementProblem | undefined {
  const { host, hasRemote = false, labels = [], agents = [] } = placement;
  const isReachable =
    host === undefined || worker.host === undefined || host === worker.host || (hasRemote && worker.mirrors);
  if (!isReachable) return { lacks: "host", host };
  const label = labels.find((needed) => !worker.labels.includes(needed));
  if (label !== undefined) return { lacks: "label", label };
  const missing = [agent, ...agents].find((needed) => !takesAgent(worker, needed));
  return missing === undefined ? undefined : { lacks: "agent", agent: missing };
}

/** An agent that the worker does not know may be configured in the repository of the task. */
function takesAgent({ agents, unreadyAgents, onlyAgents }: WorkerAbilities, agent: string): boolean {
  return agents.includes(agent) || (!onlyAgents && !unreadyAgents.includes(agent));
}
