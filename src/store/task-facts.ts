/** Properties of tasks that stores index for listing and claiming. */
import {
  RookeryError,
  taskPlacement,
  type Busy,
  type Candidate,
  type SessionStatus,
  type TaskAppend,
  type TaskClaim,
  type TaskPhase,
  type TaskState,
} from "../domain/index.ts";

/** The queue of a task: tasks with the same repository, agent, provider and placement share a lane. */
export function taskLane(spec: TaskState["spec"]): string {
  const { repository, agent, provider } = spec;
  const placement = taskPlacement(spec);
  return JSON.stringify([repository, agent, provider, ...(placement === undefined ? [] : [JSON.stringify(placement)])]);
}

/** The text of the column `limits`: what a claim must know about a task beside its lane. */
export function formatTaskLimits(spec: TaskState["spec"]): string {
  const placement = taskPlacement(spec);
  return JSON.stringify({ ...spec.limits, ...(placement !== undefined && { placement }) });
}

/** Reads what `formatTaskLimits` wrote. */
export function toCandidateLimits(
  value: Candidate["limits"] & Pick<Candidate, "placement">,
): Pick<Candidate, "limits" | "placement"> {
  const { placement, ...limits } = value;
  return { limits, ...(placement !== undefined && { placement }) };
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

export const ZERO_SESSION_COUNTS: Readonly<Record<SessionStatus, number>> = {
  idle: 0,
  running: 0,
  waiting: 0,
  closed: 0,
  copying: 0,
  parked: 0,
};

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
export function toStartAppend({ id, head, runs }: TaskState, claim: TaskClaim, fence: number): TaskAppend {
  const { owner, now, host } = claim;
  const at = new Date(now).toISOString();
  const started = { type: "task.started" as const, at, run: runs + 1, owner, ...(host !== undefined && { host }) };
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
