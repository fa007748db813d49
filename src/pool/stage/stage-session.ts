/** Opens the session in which the agent of a stage works. */
import { isRookeryError, RookeryError, type Stage } from "../../domain/index.ts";
import { DEFAULT_LEASE_TIMING, type Session } from "../../session/index.ts";
import { abortableSleep } from "../../stdx/index.ts";
import { taskBudgetFor } from "../budget.ts";
import { runUnavailable } from "../run-end.ts";
import type { TaskRun } from "./task-run.ts";

export type AgentStage = Extract<Stage, { kind: "agent" }>;

/** The agent failed. The task may be retried. */
export class AgentFailure extends RookeryError {}

/** Reopens the newest session of the task with this agent, or creates one. */
export async function openStageSession(run: TaskRun, stage: AgentStage): Promise<Session> {
  const { parts, writer, worktree, env } = run;
  const { id: task, spec } = writer.state;
  const [known] = await parts.store.list({ task, agent: stage.agent, limit: 1 });
  const model = stage.model ?? (stage.agent === spec.agent ? spec.model : undefined);
  const options = {
    agent: stage.agent,
    cwd: worktree.path,
    title: spec.title,
    task,
    env,
    ...(model !== undefined && { model }),
    ...(spec.permissions !== undefined && { permissions: spec.permissions }),
  };
  const usable = known === undefined || known.status === "closed" ? undefined : known;
  const taskBudget = await taskBudgetFor(run, stage.agent, usable?.id);
  const budgeted = { ...options, ...(taskBudget !== undefined && { taskBudget }) };
  try {
    if (usable === undefined) return await parts.openSession(budgeted);
    return await openWhenReleased(run, () => parts.openSession({ ...budgeted, id: usable.id }));
  } catch (error) {
    if (usable !== undefined && usable.status !== "idle" && isMissingHere(error)) {
      throw runUnavailable(formatMissingHere(stage.agent, error));
    }
    if (isRookeryError(error) && /^(agent_(unavailable|exited|failed)|provider_)/.test(error.code)) {
      throw new AgentFailure(error.code, error.message, { cause: error });
    }
    throw error;
  }
}

/** The first pause is short because a process that ends releases its session soon. */
const RELEASE_PAUSE_MS = 100;
const MAX_RELEASE_PAUSE_MS = 1_000;

/**
 * Opens the session, and waits for its lease if another process holds it: the lease of a dead host's session may expire
 * later than the lease of its task. Queues the task again if the lease has not expired after twice its lifetime.
 */
async function openWhenReleased({ parts, writer, signal }: TaskRun, open: () => Promise<Session>): Promise<Session> {
  const { ttlMs } = parts.leaseTiming ?? DEFAULT_LEASE_TIMING;
  const deadline = performance.now() + 2 * ttlMs;
  let isNoted = false;
  for (let ms = RELEASE_PAUSE_MS; ; ms = Math.min(2 * ms, MAX_RELEASE_PAUSE_MS)) {
    try {
      return await open();
    } catch (error) {
      if (!isRookeryError(error, "session_in_use")) throw error;
      if (performance.now() > deadline) throw runUnavailable(error.message);
      if (!isNoted) await writer.write({ type: "notice", level: "info", code: error.code, message: error.message });
      isNoted = true;
      await abortableSleep(ms, signal);
    }
  }
}

/** True if this process lacks something that another one may have: a key, a login, or a program. */
function isMissingHere(error: unknown): error is RookeryError {
  return (
    isRookeryError(error) && ["provider_unconfigured", "agent_unavailable", "agent_not_ready"].includes(error.code)
  );
}

function formatMissingHere(agent: string, { message }: RookeryError): string {
  const fix = "restart rookery serve with what it lacks";
  return `process ${process.pid} cannot run the agent ${agent} to continue this task: ${message}; ${fix}`;
}
