/** What a task is now: a fold over its events, which stores keep with the log so that listing reads none. */
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
  /** When it was first taken, and when it last ended. */
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  /** How long it ran before it was last taken, in milliseconds, and since when it runs now. */
  readonly ranMs: number;
  readonly runningSince?: string | undefined;
  readonly runs: number;
  /** How often it was tried again. */
  readonly retried: number;
  readonly owner?: string | undefined;
  /** While it is queued or parked: not before then. */
  readonly notBefore?: string | undefined;
  readonly stage: number;
  /** By the number of the stage: how often it was begun. */
  readonly attempts: Readonly<Record<number, number>>;
  /** The stage that is being gone through. */
  readonly current?: StageRun | undefined;
  /** Why the last stage that did not pass did not, for whoever mends it. */
  readonly feedback?: string | undefined;
  /** The stage that was gone back to, until it passes: it is the one that mends it. */
  readonly mends?: number | undefined;
  /** What a person said when they resumed it, until the stage or the run is over in which an agent was told. */
  readonly said?: string | undefined;
  /** All sessions it has had, the newest last, and whose they are. */
  readonly sessions: readonly TaskSession[];
  readonly worktree?: TaskWorktree | undefined;
  readonly stopAsked: boolean;
  /** Why it is as it is. */
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
  /** Its set-up is done. */
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
  /** What is, or was about to become, the head of `into`. */
  readonly commit?: string | undefined;
  /** The head of the task's branch that went into it. */
  readonly tip?: string | undefined;
  /** Undefined while it waits or is being done. */
  readonly outcome?: MergeOutcome | undefined;
  readonly conflicts?: readonly string[] | undefined;
  readonly why?: string | undefined;
}

export function applyTask(before: TaskState | undefined, event: TaskEvent): TaskState {
  if (event.type === "task.created") return createTaskState(event.taskId, event);
  if (before === undefined) throw new Error(`the log of task ${event.taskId} does not begin with its creation`);
  const state = { ...before, head: event.seq, updatedAt: event.at };
  switch (event.type) {
    case "task.queued":
      return {
        ...stopRunning(state, event.at),
        phase: "queued",
        endedAt: undefined,
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
        runs: event.run,
        startedAt: state.startedAt ?? event.at,
        runningSince: event.at,
        notBefore: undefined,
        message: undefined,
      };
    case "worktree.made": {
      const { path, branch, base, baseCommit, port, copied = state.worktree?.copied } = event;
      const ready = !event.anew && state.worktree?.ready === true;
      return { ...state, worktree: { path, branch, base, baseCommit, port, copied, ready, removed: false } };
    }
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
    case "merge.prepared":
      return updateMerge(state, event.mergeId, { commit: event.commit, tip: event.tip });
    case "merge.ended": {
      const { outcome, commit, tip, conflicts, message } = event;
      return updateMerge(state, event.mergeId, { outcome, commit, tip, conflicts, why: message });
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

/** True for a task that does nothing more unless a person resumes it. */
export function isEnded({ phase }: Pick<TaskState, "phase">): boolean {
  return isEndedStatus(phase);
}

/** Does someone hold it, or did they when they died? */
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

/** Nobody runs it any more. */
function stopRunning<State extends TaskState>(state: State, at: string): State {
  if (state.runningSince === undefined) return { ...state, owner: undefined };
  const ranMs = state.ranMs + Math.max(0, Date.parse(at) - Date.parse(state.runningSince));
  return { ...state, ranMs, runningSince: undefined, owner: undefined };
}

/** A person wants it to go on: each stage has all its tries again. What they say is for the agent that worked last. */
function resumeStages(state: TaskState, prompt: string | undefined): Partial<TaskState> {
  const anew = { attempts: {}, retried: 0 };
  const { phase, current, stage } = state;
  if (phase === "done") return { ...anew, stage: 0, current: undefined, mends: undefined, feedback: undefined };
  if (prompt === undefined) return { ...anew, current: current && { ...current, attempt: 1 } };
  const listener = findLastAgentStage(state);
  return { ...anew, stage: listener, current: undefined, mends: listener < stage ? listener : state.mends };
}

/** The stage it is in, or where that has no agent, the last before it that has one. */
function findLastAgentStage(state: TaskState): number {
  for (let stage = state.stage; stage >= 0; stage -= 1) if (isAgentStage(state, stage)) return stage;
  return state.stage;
}

function isAgentStage({ spec }: TaskState, stage: number): boolean {
  return spec.stages[stage]?.kind === "agent";
}

/** Since it was resumed with words for an agent, one has begun. */
function hasAgentStarted({ current }: TaskState): boolean {
  return current?.sessionId !== undefined;
}

function withSession(sessions: readonly TaskSession[], id: string | undefined, stage: string): readonly TaskSession[] {
  if (id === undefined) return sessions;
  return [...sessions.filter((session) => session.id !== id), { id, stage }];
}

function updateMerge(state: TaskState, mergeId: string, change: Partial<TaskMerge>): TaskState {
  const { merge } = state;
  if (merge?.mergeId !== mergeId) return state;
  const known = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return { ...state, merge: { ...merge, ...known } };
}
