/** Runs a claimed task through its stages and records how the run ended. */
import {
  isRookeryError,
  messageOf,
  type ClaimedTask,
  type Stage,
  type Store,
  type TaskEventBody,
  type TaskState,
} from "../domain/index.ts";
import { watchWithRetry } from "../session/index.ts";
import { budgetReached, remainingMs } from "./budget.ts";
import { endTask } from "./end-task.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import { holdTaskWriter, type TaskWriter } from "./task-writer.ts";
import { prepareWorktree } from "./prepare.ts";
import { ProgressSaver } from "./remote/saver.ts";
import { runFailed, runStopped, runUnavailable, isLogFailure, RunEnd } from "./run-end.ts";
import { runAgentStage } from "./stage/agent.ts";
import { AgentFailure } from "./stage/stage-session.ts";
import { runCommandStage } from "./stage/command.ts";
import { runMergeStage } from "./stage/merge.ts";
import type { StagePosition, TaskRun, StageResult } from "./stage/task-run.ts";
import { TimeLimit } from "./time-limit.ts";

const FIRST_RETRY_MS = 2_000;
const LAST_RETRY_MS = 5 * 60_000;

/** Resolves with the event that ended the run. Rejects only if the log cannot be written. The end of the run is then not recorded, and another process continues it. */
export async function runTask(
  parts: PoolParts,
  repositories: Repositories,
  { state, lease }: ClaimedTask,
  ending: AbortController,
): Promise<TaskEventBody> {
  await using writer = holdTaskWriter({ ...parts, owner: lease.owner }, state, lease);
  const lost = () => ending.abort(writer.lost.reason);
  writer.lost.addEventListener("abort", lost, { once: true });
  using _stop = watchStopRequests(parts.store, writer, () => ending.abort(runStopped("stopped by the user")));
  using time = new TimeLimit(remainingMs(state), () =>
    ending.abort(budgetReached(state.id, `${state.spec.budget.seconds} s`)),
  );
  const end = await runToEnd(parts, repositories, { writer, time }, ending.signal);
  if (end.type === "task.ended") await endTask({ parts, repositories, writer }, end);
  else await writer.write(end);
  return end;
}

/** Calls `onStop` when another process has asked to stop the task. May call it more than once. */
function watchStopRequests(store: Store, writer: TaskWriter, onStop: () => void): Disposable {
  const end = new AbortController();
  const { signal } = end;
  const watch = () => store.watchTaskHead({ taskId: writer.state.id, after: writer.state.head, signal });
  const onHead = async (head: number): Promise<void> => {
    if ((await writer.catchUpTo(head)).stopAsked && !signal.aborted) onStop();
  };
  void watchWithRetry(watch, onHead, signal);
  return { [Symbol.dispose]: () => end.abort() };
}

async function runToEnd(
  parts: PoolParts,
  repositories: Repositories,
  { writer, time }: Pick<TaskRun, "writer" | "time">,
  signal: AbortSignal,
): Promise<TaskEventBody> {
  try {
    if (writer.state.stopAsked) return { type: "task.ended", outcome: "stopped" };
    const opened = await repositories.of(writer.state.spec);
    await opened.repository.requireIdentity();
    const prepared = await prepareWorktree(parts, writer, opened, signal);
    const { mirror } = opened;
    await using saver = mirror && new ProgressSaver({ parts, writer, mirror, ...prepared });
    await runStages({ parts, writer, ...opened, ...prepared, saver, signal, time });
    return { type: "task.ended", outcome: "done" };
  } catch (error) {
    return toEndEvent(parts, writer.state, signal.aborted ? signal.reason : error);
  }
}

async function runStages(run: TaskRun): Promise<void> {
  const { writer, signal } = run;
  for (;;) {
    signal.throwIfAborted();
    const { stage: index, spec, current, attempts } = writer.state;
    const stage = spec.stages[index];
    if (stage === undefined) return;
    const attempt = current?.stage === index ? current.attempt : (attempts[index] ?? 0) + 1;
    const { passed, message } = await runStage(run, stage, { index, attempt });
    await run.saver?.save();
    const said = message !== undefined && { message };
    const backTo = spec.stages.findIndex(({ name }) => name === stage.backTo);
    const goesBack = !passed && backTo !== -1 && attempt < stage.tries;
    await writer.write({
      type: "stage.ended",
      stage: index,
      name: stage.name,
      passed,
      ...said,
      ...(goesBack && { backTo }),
    });
    if (passed || goesBack) continue;
    const times = attempt > 1 ? ` after ${attempt} attempts` : "";
    throw runFailed("stage_failed", `stage ${stage.name} failed${times}: ${lastLines(message ?? "")}`);
  }
}

function runStage(run: TaskRun, stage: Stage, place: StagePosition): Promise<StageResult> {
  switch (stage.kind) {
    case "agent":
      return runAgentStage(run, stage, place);
    case "command":
      return runCommandStage(run, stage, place);
    case "merge":
      return runMergeStage(run, stage, place);
  }
}

/** Throws the error if it means that the log cannot be written. */
function toEndEvent({ clock }: PoolParts, state: TaskState, error: unknown): TaskEventBody {
  if (error instanceof RunEnd) return error.event;
  if (error instanceof AgentFailure && state.retried < state.spec.retries) {
    const wait = Math.min(FIRST_RETRY_MS * 2 ** state.retried, LAST_RETRY_MS);
    const notBefore = new Date(clock.now() + wait).toISOString();
    return { type: "task.queued", why: "retried", message: error.message, notBefore };
  }
  if (isLogFailure(error)) throw error;
  const isOfHost = isRookeryError(error, "remote_unreachable") || isRookeryError(error, "not_trusted");
  if (state.spec.remote !== undefined && isOfHost) return runUnavailable(error.message).event; // another host may run it
  return runFailed(isRookeryError(error) ? error.code : "internal", messageOf(error)).event;
}

const MAX_MESSAGE_LENGTH = 500;

function lastLines(text: string): string {
  const end = text.trimEnd();
  return end.length > MAX_MESSAGE_LENGTH ? `…${end.slice(-MAX_MESSAGE_LENGTH)}` : end;
}
