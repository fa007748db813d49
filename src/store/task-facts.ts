/** What stores know of a task without reading its state: by what it is found and taken. */
import {
  RookeryError,
  type Busy,
  type Candidate,
  type TaskAppend,
  type TaskClaim,
  type TaskPhase,
  type TaskState,
} from "../domain/index.ts";

/** Tasks that share all of it wait in one line. */
export function laneOf({ repository, agent, provider }: TaskState["spec"]): string {
  return JSON.stringify([repository, agent, provider]);
}

/** Could someone take it, once its time has come and what it needs is done? */
export function isWaiting({ phase, removed }: TaskState): boolean {
  return (phase === "queued" || phase === "parked") && !removed;
}

/** Milliseconds since the epoch. */
export function notBeforeOf({ notBefore }: TaskState): number {
  return notBefore === undefined ? 0 : Date.parse(notBefore);
}

export function isMerging({ merge }: TaskState): boolean {
  return merge !== undefined && merge.outcome === undefined;
}

export const NO_TASKS: Readonly<Record<TaskPhase, number>> = {
  queued: 0,
  preparing: 0,
  running: 0,
  parked: 0,
  done: 0,
  failed: 0,
  stopped: 0,
};

/** What a claim adds to the log of a task. */
export function startOf({ id, head, runs }: TaskState, { owner, now }: TaskClaim, fence: number): TaskAppend {
  const at = new Date(now).toISOString();
  const started = { type: "task.started" as const, at, run: runs + 1, owner };
  return { taskId: id, id: `claim-${fence}`, expectedHead: head, fence, events: [started] };
}

/** Throws where `choose` answers with what it was not offered. */
export function chosen(claim: TaskClaim, candidates: readonly Candidate[], busy: readonly Busy[]): string | undefined {
  const id = candidates.length === 0 ? undefined : claim.choose(candidates, busy);
  if (id === undefined || candidates.some((candidate) => candidate.id === id)) return id;
  throw new RookeryError("input_invalid", `task ${id} was chosen, which was not offered: choose a candidate`);
}
