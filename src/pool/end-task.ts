/** Ends a task: releases its port, withdraws an unfinished merge, and records the end with the location of its work. */
import type { TaskEventBody } from "../domain/index.ts";
import { releasePort } from "../worktrees/index.ts";
import { isMerging, withdrawMerge } from "./merge-task.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import type { TaskWriter } from "./task-writer.ts";
import { portsFolder } from "./prepare.ts";

export interface TaskToEnd {
  readonly parts: PoolParts;
  readonly repositories: Repositories;
  readonly writer: TaskWriter;
}

type TaskEnded = Extract<TaskEventBody, { type: "task.ended" }>;

export async function endTask({ parts, repositories, writer }: TaskToEnd, end: TaskEnded): Promise<void> {
  const { id, spec } = writer.state;
  await releasePort(portsFolder(parts.home), id).catch(() => undefined); // retried when the task is removed
  if (isMerging(writer.state)) {
    const opened = await repositories.of(spec).catch(() => undefined); // a deleted repository has nothing to merge
    await withdrawMerge(writer, opened, "the task ended first");
  }
  const said = [end.message, end.outcome === "stopped" ? formatWorktreeLocation(writer) : undefined].filter(
    (text) => text !== undefined,
  );
  await writer.write({ ...end, ...(said.length > 0 && { message: said.join("; ") }) });
}

/** Ends a task that no process runs: its process died, or none has claimed it yet. */
export async function endAbandonedTask(ending: TaskToEnd, message?: string): Promise<void> {
  const { sessionId } = ending.writer.state.current ?? {};
  if (sessionId !== undefined) await ending.parts.settleSession(sessionId).catch(() => undefined); // the next process that opens the session reports the failure
  await endTask(ending, { type: "task.ended", outcome: "stopped", ...(message !== undefined && { message }) });
}

function formatWorktreeLocation({ state: { worktree } }: TaskWriter): string | undefined {
  if (worktree === undefined || worktree.removed) return undefined;
  return `its worktree is kept at ${worktree.path}, on branch ${worktree.branch}`;
}
