/** The current state of a task: a fold over its events. Stores keep it beside the log, so that listing reads no log. */
import { isEndedStatus, type TaskPhase } from "../enums.ts";
import type { MergeOutcome, TaskEvent } from "./events.ts";
import type { MergeHow, TaskSpec } from "./spec.ts";

export interface TaskState {
  readonly id: string;
  readonly head: number;
  readonly spec: TaskSpec;
  readonly phase: TaskPhase;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When the task first started, and when it last ended. */
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  /** How long earlier runs took, in milliseconds, and since when the current run lasts. */
  readonly ranMs: number;
  readonly runningSince?: string | undefined;
  readonly runs: number;
  /** How many times the task was retried. */
  readonly retried: number;
  readonly owner?: string | undefined;
  /** The host that runs the task or ran it last, and when its run was interrupted, until the task runs again. */
  readonly host?: string | undefined;
  readonly interruptedAt?: string | undefined;
  /** The earliest start of a queued or parked task. */
  readonly notBefore?: string | undefined;
  readonly stage: number;
  /** How many times each stage started, by its index. */
  readonly attempts: Readonly<Record<number, number>>;
  /** The running stage. */
  readonly current?: StageRun | undefined;
  /** Why the last failing stage failed, for the stage that fixes it. */
  readonly feedback?: string | undefined;
  /** The stage that the task returned to, until it passes. */
  readonly mends?: number | undefined;
  /** The message of the person who resumed the task, until an agent has worked on it. */
  readonly said?: string | undefined;
  /** All sessions of the task with their stages, the newest last. */
  readonly sessions: readonly TaskSession[];
  readonly worktree?: TaskWorktree | undefined;
  readonly stopAsked: boolean;
  /** The reason for the current phase. */
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly merge?: TaskMerge | undefined;
  readonly removed: boolean;
}

export interface StageRun {
  readonly stage: number;
  readonly name: string;
  readonly attempt: number;
  readonly sessionId?: string | undefined;
  readonly turns?: number | undefined;
  readonly turnId?: string | undefined;
}

export interface TaskSession {
  readonly id: string;
  readonly stage: string;
}

export interface TaskWorktree {
  readonly path: string;
  readonly branch: string;
  readonly base: string;
  readonly baseCommit: string;
  readonly port?: number | undefined;
  readonly copied?: readonly string[] | undefined;
  /** The host that has it, if several hosts share the store. */
  readonly host?: string | undefined;
  /** The newest snapshot on the remote. */
  readonly saved?: string | undefined;
  /** True if the setup is done. */
  readonly ready: boolean;
  readonly removed: boolean;
}

export interface TaskMerge {
  readonly mergeId: string;
  readonly how: MergeHow;
  readonly into: string;
  readonly gate?: string | undefined;
  readonly message?: string | undefined;
  readonly askedAt: string;
  /** The new or planned head of `into`. */
  readonly commit?: string | undefined;
  /** The head of the task's branch that was merged. */
  readonly tip?: string | undefined;
  /** Undefined until the merge has ended. */
  readonly outcome?: MergeOutcome | undefined;
  readonly conflicts?: readonly string[] | undefined;
  readonly why?: string | undefined;
}

export function applyTask(before: TaskState | undefined, event: TaskEvent): TaskState {
  if (event.type === "task.created") return createTaskState(event.taskId, event);
  if (before === undefined) throw new Error(`the log of task ${event.taskId} does not start with task.created`);
  const state = { ...before, head: event.seq, updatedAt: event.at };
  switch (event.type) {
    case "task.queued":
      return {
        ...stopRunning(state, event.at),
        phase: "queued",
        endedAt: undefined,
        ...(event.why === "interrupted" && state.host !== undefined && { interruptedAt: event.at }),
        notBefore: event.notBefore,
        retried: state.retried + (event.why === "retried" ? 1 : 0),
        stopAsked: event.why === "resumed" ? false : state.stopAsked,
        code: undefined,
        message: event.message,
        said: event.prompt ?? state.said,
        ...(event.budget !== undefined && { spec: { ...state.spec, budget: event.budget } }),
        ...(event.why === "resumed" && resumeStages(state, event.prompt)),
      };
    case "task.started":
      return {
        ...state,
        phase: "preparing",
        owner: event.owner,
        host: event.host ?? state.host,
        interruptedAt: undefined,
        runs: event.run,
        startedAt: state.startedAt ?? event.at,
        runningSince: event.at,
        notBefore: undefined,
        message: undefined,
      };
    case "worktree.made": {
      const { path, branch, base, baseCommit, port, copied = state.worktree?.copied, host } = event;
      const ready = !event.anew && state.worktree?.ready === true;
      const saved = event.restored ?? state.worktree?.saved;
      const where = { ...(host !== undefined && { host }), ...(saved !== undefined && { saved }) };
      return { ...state, worktree: { path, branch, base, baseCommit, port, copied, ready, removed: false, ...where } };
    }
    case "worktree.saved":
      return { ...state, worktree: state.worktree && { ...state.worktree, saved: event.commit } };
    case "worktree.ready":
      return { ...state, phase: "running", worktree: state.worktree && { ...state.worktree, ready: true } };
    case "stage.started": {
      const { stage, name, attempt, sessionId, turns, turnId } = event;
      return {
        ...state,
        phase: "running",
        stage,
        attempts: { ...state.attempts, [stage]: attempt },
        current: { stage, name, attempt, sessionId, turns, turnId },
        sessions: withSession(state.sessions, sessionId, name),
      };
    }
    case "stage.ended":
      return {
        ...state,
        current: undefined,
        said: isAgentStage(state, event.stage) ? undefined : state.said,
        mends: event.backTo ?? (event.passed && event.stage === state.mends ? undefined : state.mends),
        stage: event.backTo ?? (event.passed ? event.stage + 1 : event.stage),
        feedback: event.passed ? state.feedback : event.message,
      };
    case "task.parked":
      return { ...stopRunning(state, event.at), phase: "parked", notBefore: event.until, message: event.message };
    case "task.stop_asked":
      return { ...state, stopAsked: true };
    case "task.ended":
      return {
        ...stopRunning(state, event.at),
        phase: event.outcome,
        endedAt: event.at,
        said: event.outcome === "done" || hasAgentStarted(state) ? undefined : state.said,
        code: event.code,
        message: event.message,
      };
    case "merge.asked": {
      const { mergeId, how, into, gate, message } = event;
      return { ...state, merge: { mergeId, how, into, gate, message, askedAt: event.at } };
    }
    case "merge.waiting":
      return updateMerge(state, event.mergeId, { why: event.message });
    case "merge.prepared":
      return updateMerge(dropMergeReason(state), event.mergeId, { commit: event.commit, tip: event.tip });
    case "merge.ended": {
      const { outcome, commit, tip, conflicts, message } = event;
      return updateMerge(dropMergeReason(state), event.mergeId, { outcome, commit, tip, conflicts, why: message });
    }
    case "worktree.removed":
      return { ...state, worktree: state.worktree && { ...state.worktree, removed: true } };
    case "task.removed":
      return { ...state, removed: true };
    case "output.text":
    case "notice":
      return state;
  }
}

/** True for a task that does nothing until a person resumes it. */
export function isEnded({ phase }: Pick<TaskState, "phase">): boolean {
  return isEndedStatus(phase);
}

/** True if a process holds the task, or held it when it died. */
export function isHeld({ phase }: Pick<TaskState, "phase">): boolean {
  return phase === "preparing" || phase === "running";
}

function createTaskState(id: string, { seq, at, spec }: Extract<TaskEvent, { type: "task.created" }>): TaskState {
  return {
    id,
    head: seq,
    spec,
    phase: "queued",
    createdAt: at,
    updatedAt: at,
    ranMs: 0,
    runs: 0,
    retried: 0,
    stage: 0,
    attempts: {},
    sessions: [],
    stopAsked: false,
    removed: false,
  };
}

/** Ends the current run. */
function stopRunning<State extends TaskState>(state: State, at: string): State {
  if (state.runningSince === undefined) return { ...state, owner: undefined };
  const ranMs = state.ranMs + Math.max(0, Date.parse(at) - Date.parse(state.runningSince));
  return { ...state, ranMs, runningSince: undefined, owner: undefined };
}

/** Restores all attempts after a person resumed the task. A message goes to the last agent that worked. */
function resumeStages(state: TaskState, prompt: string | undefined): Partial<TaskState> {
  const reset = { attempts: {}, retried: 0 };
  const { phase, current, stage } = state;
  if (phase === "done") return { ...reset, stage: 0, current: undefined, mends: undefined, feedback: undefined };
  if (prompt === undefined) return { ...reset, current: current && { ...current, attempt: 1 } };
  const target = findLastAgentStage(state);
  return { ...reset, stage: target, current: undefined, mends: target < stage ? target : state.mends };
}

/** Returns the current stage if it has an agent, and otherwise the last stage before it that has one. */
function findLastAgentStage(state: TaskState): number {
  for (let stage = state.stage; stage >= 0; stage -= 1) if (isAgentStage(state, stage)) return stage;
  return state.stage;
}

function isAgentStage({ spec }: TaskState, stage: number): boolean {
  return spec.stages[stage]?.kind === "agent";
}

/** True if an agent has started since the task was resumed. */
function hasAgentStarted({ current }: TaskState): boolean {
  return current?.sessionId !== undefined;
}

function withSession(sessions: readonly TaskSession[], id: string | undefined, stage: string): readonly TaskSession[] {
  if (id === undefined) return sessions;
  return [...sessions.filter((session) => session.id !== id), { id, stage }];
}

/** A merge that continues no longer waits. */
function dropMergeReason(state: TaskState): TaskState {
  const { why: _waited, ...merge } = state.merge ?? {};
  return state.merge?.why === undefined ? state : { ...state, merge: merge as TaskMerge };
}

function updateMerge(state: TaskState, mergeId: string, change: Partial<TaskMerge>): TaskState {
  const { merge } = state;
  if (merge?.mergeId !== mergeId) return state;
  const known = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return { ...state, merge: { ...merge, ...known } };
}
