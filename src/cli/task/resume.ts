/** `rookery task resume`: a task goes on in its worktree and its session. */
import type { TaskView } from "../../domain/task/view.ts";
import type { Call } from "../command.ts";
import { type ExitCode, usage } from "../exit.ts";
import { textOption } from "../options.ts";
import { readStdin } from "../run/prompt.ts";
import { budgetOf } from "./amounts.ts";
import type { TaskDoor } from "./door.ts";
import { findTask } from "./find.ts";
import { giveTask } from "./give.ts";
import { withLeft } from "./left.ts";

export async function resumeTask(call: Call, door: TaskDoor): Promise<ExitCode> {
  const [named = "", typed] = call.args;
  const text = textOption(call.options, "budget");
  const budget = text === undefined ? undefined : budgetOf(text);
  const task = await findTask(door.tasks, named);
  const { id } = task;
  const prompt = typed === "-" ? await readStdin(call.io, "the prompt") : typed;
  if (prompt?.trim() === "") throw usage(`the prompt is empty; without one it just goes on: rookery task resume ${id}`);
  if (prompt === undefined && budget === undefined && (await waitsForUs(door, task))) {
    return giveTask(call, door, async () => task);
  }
  return giveTask(call, door, () => door.tasks.resume(id, { prompt, budget }));
}

/** It goes on as soon as anybody runs it, and nobody does. */
async function waitsForUs(door: TaskDoor, task: TaskView): Promise<boolean> {
  if (door.runner === undefined) return false;
  return task.status === "queued" || (await withLeft(door, task)).left;
}
