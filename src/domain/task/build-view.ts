/** Combines the state of a task with its sessions into the view that people see. Used by the server and by the page. */
import type { TaskStatus } from "../enums.ts";
import type { SessionSummary } from "../summary.ts";
import { addUsage, NO_USAGE } from "../usage.ts";
import { isHeld, type TaskState } from "./state.ts";
import type { TaskView } from "./view.ts";

/** The other logs that the view of a task depends on. */
export interface TaskViewSources {
  /** Called for each session of the task, and for the current one of a task that it needs. Undefined if it was deleted. */
  readonly findSession: (id: string) => SessionSummary | undefined;
  /** Called for the tasks that a queued task needs. */
  readonly findTask: (id: string) => Pick<TaskState, "phase" | "removed" | "current"> | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function buildTaskView(state: TaskState, { findSession, findTask, now }: TaskViewSources): TaskView {
  const summaries = state.sessions.map(({ id }) => findSession(id)).filter((summary) => summary !== undefined);
  const current = summaries.find(({ id }) => id === state.current?.sessionId) ?? summaries.at(-1);
  const { spec, worktree, merge } = state;
  const waiting = isHeld(state) && current !== undefined ? current.waitingFor : [];
  const since = state.runningSince === undefined ? 0 : now - Date.parse(state.runningSince);
  return {
    id: state.id,
    title: spec.title,
    prompt: spec.prompt,
    status: taskStatus(state, current),
    repository: spec.repository,
    ...((state.host ?? spec.host) !== undefined && { host: state.host ?? spec.host }),
    ...(spec.labels !== undefined && { labels: spec.labels }),
    agent: taskAgent(state),
    priority: spec.priority,
    needs: spec.needs,
    createdAt: state.createdAt,
    startedAt: state.startedAt,
    endedAt: state.endedAt,
    ranMs: state.ranMs + Math.max(0, since),
    runs: state.runs,
    stage: state.current?.name ?? spec.stages[state.stage]?.name,
    stages: spec.stages.map(({ name }) => name),
    sessions: state.sessions,
    worktree: worktree && {
      path: worktree.path,
      branch: worktree.branch,
      base: worktree.base,
      baseCommit: worktree.baseCommit,
      port: worktree.port,
      ...(worktree.host !== undefined && { host: worktree.host }),
      ...(worktree.saved !== undefined && { saved: worktree.saved }),
      removed: worktree.removed,
    },
    waitingFor: waiting.map((requestId) => ({ sessionId: current?.id ?? "", requestId })),
    notBefore: state.notBefore,
    code: state.code,
    message: state.message ?? formatQueueReason(state, findTask, findSession),
    usage: summaries.reduce((sum, { usage }) => (usage === undefined ? sum : addUsage(sum, usage)), NO_USAGE),
    lastLine: current?.lastLine,
    merge: merge && {
      how: merge.how,
      into: merge.into,
      outcome: merge.outcome,
      commit: merge.commit,
      conflicts: merge.conflicts,
      message: merge.why,
    },
    removed: state.removed,
  };
}

/** The tasks whose state the view depends on: those that a queued task needs. */
export function listNeededTasks({ phase, spec }: TaskState): readonly string[] {
  return phase === "queued" ? spec.needs : [];
}

function taskStatus(state: Pick<TaskState, "phase" | "current">, current: SessionSummary | undefined): TaskStatus {
  const asks = current?.status === "waiting" && current.id === state.current?.sessionId;
  return state.phase === "running" && asks ? "waiting" : state.phase;
}

function taskAgent({ spec, stage }: TaskState): string {
  for (let index = Math.min(stage, spec.stages.length - 1); index >= 0; index -= 1) {
    const of = spec.stages[index];
    if (of?.kind === "agent") return of.agent;
  }
  return spec.agent;
}

/** Explains which needed task a queued task waits for. */
function formatQueueReason(
  state: TaskState,
  findTask: TaskViewSources["findTask"],
  findSession: TaskViewSources["findSession"],
): string | undefined {
  for (const id of listNeededTasks(state)) {
    const needed = findTask(id);
    if (needed?.phase === "done") continue;
    if (needed === undefined || needed.removed)
      return `needs ${id}, which was removed before it was done; stop this task`;
    const sessionId = needed.current?.sessionId;
    const status = taskStatus(needed, sessionId === undefined ? undefined : findSession(sessionId));
    if (status === "waiting") return `needs ${id}, which waits for an answer`;
    const again =
      needed.phase === "failed" || needed.phase === "stopped" ? `; continue it with rookery task resume ${id}` : "";
    return `needs ${id}, which is ${needed.phase}${again}`;
  }
  return undefined;
}
