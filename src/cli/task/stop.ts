/** `rookery task stop`: stops a task and keeps its worktree. */
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { printJson, printText } from "../io.ts";
import { isSet, textOption } from "../options.ts";
import type { TaskService } from "./service.ts";
import { findTask } from "./find.ts";
import { formatResumeHint } from "./resume-hint.ts";
import { withSpinner } from "./progress.ts";

export async function stopTaskCommand(
  { io, args: [named = ""], options }: CommandCall,
  { tasks }: TaskService,
): Promise<ExitCode> {
  const { id } = await findTask(tasks, named, io);
  const reason = textOption(options, "reason");
  const task = await withSpinner(io, `stopping ${id}`, () => tasks.stop(id, { reason }));
  if (isSet(options, "json")) await printJson(io, task);
  else {
    const status = task.status === "stopped" ? `stopped ${task.id}` : `task ${task.id} is ${task.status}`;
    await printText(io, `${status}; ${formatResumeHint(task)}\n`);
  }
  return EXIT.done;
}
