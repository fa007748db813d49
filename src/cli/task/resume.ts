/** `rookery task resume`: continues a task in its worktree and session. */
import type { CommandCall } from "../command.ts";
import { type ExitCode, usageError } from "../exit.ts";
import { textOption } from "../options.ts";
import { readStdin } from "../run/prompt.ts";
import { parseBudget } from "./amounts.ts";
import type { TaskService } from "./service.ts";
import { findTask } from "./find.ts";
import { submitTask } from "./submit.ts";
import { hasNoRunner } from "./interrupted.ts";

export async function resumeTaskCommand(call: CommandCall, service: TaskService): Promise<ExitCode> {
  const [named = "", typed] = call.args;
  const text = textOption(call.options, "budget");
  const budget = text === undefined ? undefined : parseBudget(text);
  const task = await findTask(service.tasks, named);
  const { id } = task;
  const prompt = typed === "-" ? await readStdin(call.io, "the prompt") : typed;
  if (prompt?.trim() === "")
    throw usageError(`the prompt is empty; to continue without one: rookery task resume ${id}`);
  if (
    prompt === undefined &&
    budget === undefined &&
    service.runner !== undefined &&
    (await hasNoRunner(service, id))
  ) {
    return submitTask(call, service, async () => task);
  }
  return submitTask(call, service, () => service.tasks.resume(id, { prompt, budget }));
}
