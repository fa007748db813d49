/** Finds tasks in memory: lists, busy tasks and candidates for claims. */
import {
  isHeld,
  type Busy,
  type Candidate,
  type TaskClaim,
  type TaskQuery,
  type TaskState,
} from "../../domain/index.ts";
import type { StoredLease } from "../lease.ts";
import { clampLimit } from "../page.ts";
import { hasOpenMerge, isClaimableTask, taskLane, taskNotBefore } from "../task-facts.ts";

/** In creation order. */
export type MemoryTasks = ReadonlyMap<string, { readonly order: number; readonly state: TaskState }>;

export function filterTasks(tasks: MemoryTasks, query: TaskQuery): TaskState[] {
  const { phases, repository, agent, idPrefix = "", merging, removed = false, before, limit } = query;
  const older = before === undefined ? Infinity : (tasks.get(before)?.order ?? 0);
  return Array.from(tasks.values())
    .filter(({ order }) => order < older)
    .map(({ state }) => state)
    .filter((state) => removed || !state.removed)
    .filter(({ phase }) => phases?.includes(phase) ?? true)
    .filter(({ spec }) => repository === undefined || spec.repository === repository)
    .filter(({ spec }) => agent === undefined || spec.agent === agent)
    .filter(({ id }) => id.startsWith(idPrefix))
    .filter((state) => merging === undefined || hasOpenMerge(state) === merging)
    .reverse()
    .slice(0, clampLimit(limit));
}

export function busyTasks(tasks: MemoryTasks): Busy[] {
  return Array.from(tasks.values(), ({ state }) => state)
    .filter((state) => isHeld(state) && !state.removed)
    .map(toBusyTask);
}

export function findCandidates(
  tasks: MemoryTasks,
  leases: ReadonlyMap<string, StoredLease>,
  { only, now, owner }: TaskClaim,
): Candidate[] {
  const isFree = (lease: StoredLease | undefined) =>
    lease === undefined || lease.released || lease.owner === owner || lease.until <= now;
  const lanes = new Map<string, Candidate>();
  for (const { order, state } of tasks.values()) {
    const { id, spec } = state;
    if (only !== undefined && id !== only) continue;
    if (!isClaimableTask(state) || taskNotBefore(state) > now || !isFree(leases.get(id))) continue;
    if (!spec.needs.every((needed) => tasks.get(needed)?.state.phase === "done")) continue;
    const first = lanes.get(taskLane(spec));
    if (first !== undefined && first.priority >= spec.priority) continue;
    lanes.set(taskLane(spec), { ...toBusyTask(state), priority: spec.priority, order, limits: spec.limits });
  }
  return Array.from(lanes.values());
}

function toBusyTask({ id, spec: { repository, agent, provider } }: TaskState): Busy {
  return { id, repository, agent, provider };
}
