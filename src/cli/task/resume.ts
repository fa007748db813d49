/** `rookery task resume`: continues a task in its worktree and session. */
import type { CommandCall } from "../command.ts";
import { type ExitCode, usageError } from "../exit.ts";
import { textOption } from "../options.ts";
import { readStdin } from "../run/prompt.ts";
import { parseBudget } from "./amounts.ts";
import { askLine } from "../run/ask-line.ts";
import type { TaskView } from "../../domain/task/view.ts";
import { type Io, isPersonPresent } from "../io.ts";
import type { TaskService } from "./service.ts";
import { findTask } from "./find.ts";
import { submitTask } from "./submit.ts";
import { hasNoRunner } from "./interrupted.ts";

export async function resumeTaskCommand(call: CommandCall, service: TaskService): Promise<ExitCode> {
  const [named = "", typed] = call.args;
  const text = textOption(call.options, "budget");
  const budget = text === undefined ? undefined : parseBudget(text);
  const task = await findTask(service.tasks, named, call.io);
  const { id } = task;
  const done = task.status === "done";
  const prompt = typed === "-" ? await readStdin(call.io, "the prompt") : (typed ?? (await askIfDone(call.io, task)));
  if (prompt?.trim() === "") {
    const fix = done
      ? `say what to do next: rookery task resume ${id} "PROMPT"`
      : `to continue without one: rookery task resume ${id}`;
    throw usageError(`the prompt is empty; ${fix}`);
  }
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

/** A task that is done has nothing to continue, so it needs a prompt. Throws `usage` if nobody can be asked. */
async function askIfDone(io: Io, { id, status }: TaskView): Promise<string | undefined> {
  if (status !== "done") return undefined;
  if (!isPersonPresent(io)) {
    throw usageError(`task ${id} is done; say what the agent has to do next: rookery task resume ${id} "PROMPT"`);
  }
  const { signal } = new AbortController();
  return (await askLine(io, `Task ${id} is done. What should the agent do next? `, signal)) ?? "";
}
