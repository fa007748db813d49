/** Combines the state of a task and of its sessions into the view that callers get. */
import {
  addUsage,
  isHeld,
  NO_USAGE,
  type SessionSummary,
  type Store,
  type TaskState,
  type TaskStatus,
  type TaskView,
} from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";

export async function toTaskView(store: Store, clock: Clock, state: TaskState): Promise<TaskView> {
  const found = await Promise.all(state.sessions.map(({ id }) => store.summary(id)));
  const summaries = found.filter((summary) => summary !== undefined);
  const current = summaries.find(({ id }) => id === state.current?.sessionId) ?? summaries.at(-1);
  const { spec, worktree, merge } = state;
  const waiting = isHeld(state) && current !== undefined ? current.waitingFor : [];
  const since = state.runningSince === undefined ? 0 : clock.now() - Date.parse(state.runningSince);
  return {
    id: state.id,
    title: spec.title,
    prompt: spec.prompt,
    status: taskStatus(state, current),
    repository: spec.repository,
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
      removed: worktree.removed,
    },
    waitingFor: waiting.map((requestId) => ({ sessionId: current?.id ?? "", requestId })),
    notBefore: state.notBefore,
    code: state.code,
    message: state.message ?? (await formatQueueReason(store, state)),
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

function taskStatus(state: TaskState, current: SessionSummary | undefined): TaskStatus {
  const asks = current?.status === "waiting" && current.id === state.current?.sessionId;
  return state.phase === "running" && asks ? "waiting" : state.phase;
}

function taskAgent({ spec, stage }: TaskState): string {
  const before = spec.stages.slice(0, stage + 1).toReversed();
  const of = before.find((each) => each.kind === "agent");
  return of?.kind === "agent" ? of.agent : spec.agent;
}

/** Explains which needed task a queued task waits for. */
async function formatQueueReason(store: Store, { phase, spec }: TaskState): Promise<string | undefined> {
  if (phase !== "queued" || spec.needs.length === 0) return undefined;
  for (const id of spec.needs) {
    const needed = await store.task(id);
    if (needed?.phase === "done") continue;
    if (needed === undefined || needed.removed)
      return `needs ${id}, which was removed before it was done; stop this task`;
    const again =
      needed.phase === "failed" || needed.phase === "stopped" ? `; continue it with rookery task resume ${id}` : "";
    return `needs ${id}, which is ${needed.phase}${again}`;
  }
  return undefined;
}
