/** Tasks in memory as they are found and offered. */
import {
  isHeld,
  type Busy,
  type Candidate,
  type TaskClaim,
  type TaskQuery,
  type TaskState,
} from "../../domain/index.ts";
import type { KeptLease } from "../lease.ts";
import { clampLimit } from "../page.ts";
import { isMerging, isWaiting, laneOf, notBeforeOf } from "../task-facts.ts";

/** In the order in which they were created. */
export type KeptTasks = ReadonlyMap<string, { readonly order: number; readonly state: TaskState }>;

export function listed(tasks: KeptTasks, query: TaskQuery): TaskState[] {
  const { phases, repository, agent, merging, removed = false, before, limit } = query;
  const older = before === undefined ? Infinity : (tasks.get(before)?.order ?? 0);
  return Array.from(tasks.values())
    .filter(({ order }) => order < older)
    .map(({ state }) => state)
    .filter((state) => removed || !state.removed)
    .filter(({ phase }) => phases?.includes(phase) ?? true)
    .filter(({ spec }) => repository === undefined || spec.repository === repository)
    .filter(({ spec }) => agent === undefined || spec.agent === agent)
    .filter((state) => merging === undefined || isMerging(state) === merging)
    .reverse()
    .slice(0, clampLimit(limit));
}

export function busyTasks(tasks: KeptTasks): Busy[] {
  return Array.from(tasks.values(), ({ state }) => state)
    .filter((state) => isHeld(state) && !state.removed)
    .map(busyOf);
}

export function candidatesOf(
  tasks: KeptTasks,
  leases: ReadonlyMap<string, KeptLease>,
  { only, now, owner }: TaskClaim,
): Candidate[] {
  const isFree = (lease: KeptLease | undefined) =>
    lease === undefined || lease.released || lease.owner === owner || lease.until <= now;
  const lanes = new Map<string, Candidate>();
  for (const { order, state } of tasks.values()) {
    const { id, spec } = state;
    if (only !== undefined && id !== only) continue;
    if (!isWaiting(state) || notBeforeOf(state) > now || !isFree(leases.get(id))) continue;
    if (!spec.needs.every((needed) => tasks.get(needed)?.state.phase === "done")) continue;
    const first = lanes.get(laneOf(spec));
    if (first !== undefined && first.priority >= spec.priority) continue;
    lanes.set(laneOf(spec), { ...busyOf(state), priority: spec.priority, order, limits: spec.limits });
  }
  return Array.from(lanes.values());
}

function busyOf({ id, spec: { repository, agent, provider } }: TaskState): Busy {
  return { id, repository, agent, provider };
}
