/** `rookery task resume`: a task goes on in its worktree and its session. */
import type { Call } from "../command.ts";
import { type ExitCode, usage } from "../exit.ts";
import { textOption } from "../options.ts";
import { readStdin } from "../run/prompt.ts";
import { budgetOf } from "./amounts.ts";
import type { TaskDoor } from "./door.ts";
import { findTask } from "./find.ts";
import { giveTask } from "./give.ts";
import { isAnybodys } from "./left.ts";

export async function resumeTask(call: Call, door: TaskDoor): Promise<ExitCode> {
  const [named = "", typed] = call.args;
  const text = textOption(call.options, "budget");
  const budget = text === undefined ? undefined : budgetOf(text);
  const task = await findTask(door.tasks, named);
  const { id } = task;
  const prompt = typed === "-" ? await readStdin(call.io, "the prompt") : typed;
  if (prompt?.trim() === "") throw usage(`the prompt is empty; without one it just goes on: rookery task resume ${id}`);
  if (prompt === undefined && budget === undefined && door.runner !== undefined && (await isAnybodys(door, id))) {
    return giveTask(call, door, async () => task);
  }
  return giveTask(call, door, () => door.tasks.resume(id, { prompt, budget }));
}
