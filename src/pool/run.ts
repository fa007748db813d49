/** One run of a task: from being taken, through its stages, to being let go with its end written down. */
import {
  isRookeryError,
  messageOf,
  type ClaimedTask,
  type Stage,
  type TaskEventBody,
  type TaskState,
} from "../domain/index.ts";
import { spent, timeLeft } from "./budget.ts";
import { endTask } from "./ending.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import { holdPen } from "./pen.ts";
import { prepare } from "./prepare.ts";
import { failed, isLogFailure, RunEnded } from "./reasons.ts";
import { AgentFailed, agentStage } from "./stage/agent.ts";
import { commandStage } from "./stage/command.ts";
import { mergeStage } from "./stage/merge.ts";
import type { Place, Run, StageResult } from "./stage/run.ts";
import { TimeLimit } from "./time-limit.ts";

const FIRST_RETRY_MS = 2_000;
const LAST_RETRY_MS = 5 * 60_000;

/** Rejects only where the log cannot be written: then nothing is known of the task's end, and whoever comes next goes on. */
export async function runTask(
  parts: PoolParts,
  repositories: Repositories,
  { state, lease }: ClaimedTask,
  ending: AbortController,
): Promise<void> {
  await using pen = holdPen({ ...parts, owner: lease.owner }, state, lease);
  const lost = () => ending.abort(pen.lost.reason);
  pen.lost.addEventListener("abort", lost, { once: true });
  using time = new TimeLimit(timeLeft(state), () => ending.abort(spent(state.id, `${state.spec.budget.seconds} s`)));
  const end = await outcomeOf(parts, repositories, { pen, time }, ending.signal);
  if (end.type === "task.ended") await endTask({ parts, repositories, pen }, end);
  else await pen.write(end);
}

async function outcomeOf(
  parts: PoolParts,
  repositories: Repositories,
  { pen, time }: Pick<Run, "pen" | "time">,
  signal: AbortSignal,
): Promise<TaskEventBody> {
  try {
    if (pen.state.stopAsked) return { type: "task.ended", outcome: "stopped" };
    const repository = await repositories(pen.state.spec.repository);
    await repository.identity();
    const prepared = await prepare(parts, pen, repository, signal);
    await goThrough({ parts, pen, repository, ...prepared, signal, time });
    return { type: "task.ended", outcome: "done" };
  } catch (error) {
    return endOf(parts, pen.state, signal.aborted ? signal.reason : error);
  }
}

async function goThrough(run: Run): Promise<void> {
  const { pen, signal } = run;
  for (;;) {
    signal.throwIfAborted();
    const { stage: index, spec, current, attempts } = pen.state;
    const stage = spec.stages[index];
    if (stage === undefined) return;
    const attempt = current?.stage === index ? current.attempt : (attempts[index] ?? 0) + 1;
    const { passed, message } = await goOn(run, stage, { index, attempt });
    const said = message !== undefined && { message };
    const backTo = spec.stages.findIndex(({ name }) => name === stage.backTo);
    const goesBack = !passed && backTo !== -1 && attempt < stage.tries;
    await pen.write({
      type: "stage.ended",
      stage: index,
      name: stage.name,
      passed,
      ...said,
      ...(goesBack && { backTo }),
    });
    if (passed || goesBack) continue;
    const times = attempt > 1 ? ` (${attempt} times)` : "";
    throw failed("stage_failed", `stage ${stage.name} did not pass${times}: ${lastLines(message ?? "")}`);
  }
}

function goOn(run: Run, stage: Stage, place: Place): Promise<StageResult> {
  switch (stage.kind) {
    case "agent":
      return agentStage(run, stage, place);
    case "command":
      return commandStage(run, stage, place);
    case "merge":
      return mergeStage(run, stage, place);
  }
}

/** Throws what means that the log cannot be written. */
function endOf({ clock }: PoolParts, state: TaskState, error: unknown): TaskEventBody {
  if (error instanceof RunEnded) return error.event;
  if (error instanceof AgentFailed && state.retried < state.spec.retries) {
    const wait = Math.min(FIRST_RETRY_MS * 2 ** state.retried, LAST_RETRY_MS);
    const notBefore = new Date(clock.now() + wait).toISOString();
    return { type: "task.queued", why: "retried", message: error.message, notBefore };
  }
  if (isLogFailure(error)) throw error;
  return failed(isRookeryError(error) ? error.code : "internal", messageOf(error)).event;
}

const TOLD_LENGTH = 500;

function lastLines(text: string): string {
  const end = text.trimEnd();
  return end.length > TOLD_LENGTH ? `…${end.slice(-TOLD_LENGTH)}` : end;
}
