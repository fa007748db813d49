/** Properties of tasks that stores index for listing and claiming. */
import {
  RookeryError,
  type Busy,
  type Candidate,
  type TaskAppend,
  type TaskClaim,
  type TaskPhase,
  type TaskState,
} from "../domain/index.ts";

/** The queue of a task: tasks with the same repository, agent and provider share a lane. */
export function taskLane({ repository, agent, provider }: TaskState["spec"]): string {
  return JSON.stringify([repository, agent, provider]);
}

/** Whether the task can be claimed as soon as `notBefore` has passed and the tasks that it needs are done. */
export function isClaimableTask({ phase, removed }: TaskState): boolean {
  return (phase === "queued" || phase === "parked") && !removed;
}

/** In milliseconds since the epoch. 0 if the task can start at any time. */
export function taskNotBefore({ notBefore }: TaskState): number {
  return notBefore === undefined ? 0 : Date.parse(notBefore);
}

export function hasOpenMerge({ merge }: TaskState): boolean {
  return merge !== undefined && merge.outcome === undefined;
}

export const ZERO_TASK_COUNTS: Readonly<Record<TaskPhase, number>> = {
  queued: 0,
  preparing: 0,
  running: 0,
  parked: 0,
  done: 0,
  failed: 0,
  stopped: 0,
};

/** The append that records a claim in the log of the task. */
export function toStartAppend({ id, head, runs }: TaskState, { owner, now }: TaskClaim, fence: number): TaskAppend {
  const at = new Date(now).toISOString();
  const started = { type: "task.started" as const, at, run: runs + 1, owner };
  return { taskId: id, id: `claim-${fence}`, expectedHead: head, fence, events: [started] };
}

/** Calls `choose`. Undefined if it chooses none. Throws `input_invalid` if its result is not a candidate. */
export function chooseCandidate(
  claim: TaskClaim,
  candidates: readonly Candidate[],
  busy: readonly Busy[],
): string | undefined {
  const id = candidates.length === 0 ? undefined : claim.choose(candidates, busy);
  if (id === undefined || candidates.some((candidate) => candidate.id === id)) return id;
  throw new RookeryError(
    "input_invalid",
    `the claim chose task ${id}, which is not a candidate: choose one of the candidates`,
  );
}
