/** The end of a task, however it comes to it: its port is free, no merge of it is left to be done, and it says where its work is. */
import type { TaskEventBody } from "../domain/index.ts";
import { releasePort } from "../worktrees/index.ts";
import { isMerging, withdrawMerge } from "./merging.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import type { Pen } from "./pen.ts";
import { portsFolder } from "./prepare.ts";

export interface Ending {
  readonly parts: PoolParts;
  readonly repositories: Repositories;
  readonly pen: Pen;
}

type TaskEnded = Extract<TaskEventBody, { type: "task.ended" }>;

export async function endTask({ parts, repositories, pen }: Ending, end: TaskEnded): Promise<void> {
  const { id, spec } = pen.state;
  await releasePort(portsFolder(parts.home), id).catch(() => undefined); // tried again when it is removed
  if (isMerging(pen.state)) {
    const repository = await repositories(spec.repository).catch(() => undefined); // where it is gone, so is what was merged
    await withdrawMerge(pen, repository, "its task came to an end before");
  }
  const said = [end.message, end.outcome === "stopped" ? whereIs(pen) : undefined].filter((text) => text !== undefined);
  await pen.write({ ...end, ...(said.length > 0 && { message: said.join("; ") }) });
}

/** A task that is to be stopped, and that nobody runs: a dead process left it, or nobody has taken it yet. */
export async function endLeft(ending: Ending, message?: string): Promise<void> {
  const { sessionId } = ending.pen.state.current ?? {};
  if (sessionId !== undefined) await ending.parts.settleSession(sessionId).catch(() => undefined); // told by whoever opens it next
  await endTask(ending, { type: "task.ended", outcome: "stopped", ...(message !== undefined && { message }) });
}

function whereIs({ state: { worktree } }: Pen): string | undefined {
  if (worktree === undefined || worktree.removed) return undefined;
  return `its worktree stays in ${worktree.path}, on branch ${worktree.branch}`;
}
