/** Finds tasks in memory: lists, busy tasks and candidates for claims. */
import {
  isHeld,
  MAX_PAGE,
  taskPlacement,
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
  const inOrder = (found: TaskState[]): TaskState[] => (query.order === "oldest_first" ? found : found.reverse());
  const older = before === undefined ? Infinity : (tasks.get(before)?.order ?? 0);
  const found = Array.from(tasks.values())
    .filter(({ order }) => order < older)
    .map(({ state }) => state)
    .filter((state) => removed || !state.removed)
    .filter(({ phase }) => phases?.includes(phase) ?? true)
    .filter(({ spec }) => repository === undefined || spec.repository === repository)
    .filter(({ spec }) => agent === undefined || spec.agent === agent)
    .filter(({ id }) => id.startsWith(idPrefix))
    .filter((state) => merging === undefined || hasOpenMerge(state) === merging);
  return inOrder(found).slice(0, clampLimit(limit));
}

export function busyTasks(tasks: MemoryTasks): Busy[] {
  return Array.from(tasks.values(), ({ state }) => state)
    .filter((state) => isHeld(state) && !state.removed)
    .map(toBusyTask);
}

export function listHeldTasks(tasks: MemoryTasks): TaskState[] {
  return Array.from(tasks.values(), ({ state }) => state)
    .filter((state) => !state.removed && (isHeld(state) || hasOpenMerge(state)))
    .slice(0, MAX_PAGE);
}

export function findCandidates(
  tasks: MemoryTasks,
  leases: Pick<ReadonlyMap<string, StoredLease>, "get">,
  { only, now, owner }: TaskClaim,
  skip: ReadonlySet<string>,
): Candidate[] {
  const isFree = (lease: StoredLease | undefined) =>
    lease === undefined || lease.released || lease.owner === owner || lease.until <= now;
  const lanes = new Map<string, Candidate>();
  for (const { order, state } of tasks.values()) {
    const { id, spec } = state;
    if ((only !== undefined && id !== only) || skip.has(id)) continue;
    if (!isClaimableTask(state) || taskNotBefore(state) > now || !isFree(leases.get(id))) continue;
    if (!spec.needs.every((needed) => tasks.get(needed)?.state.phase === "done")) continue;
    const first = lanes.get(taskLane(spec));
    if (first !== undefined && first.priority >= spec.priority) continue;
    const placement = taskPlacement(spec);
    const placed = { limits: spec.limits, ...(placement !== undefined && { placement }) };
    lanes.set(taskLane(spec), { ...toBusyTask(state), priority: spec.priority, order, ...placed });
  }
  return Array.from(lanes.values());
}

function toBusyTask({ id, spec: { repository, agent, provider } }: TaskState): Busy {
  return { id, repository, agent, provider };
}
