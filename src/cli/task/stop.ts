/** `rookery task stop`: ends what runs of a task, and keeps its worktree. */
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { withCommandPrefix, print, printJson } from "../io.ts";
import { isSet, textOption } from "../options.ts";
import type { TaskService } from "./service.ts";
import { findTask } from "./find.ts";
import { keptWords } from "./kept.ts";
import { withSpinner } from "./progress.ts";

export async function stopTaskCommand(
  { io, args: [named = ""], options }: CommandCall,
  { tasks }: TaskService,
): Promise<ExitCode> {
  const { id } = await findTask(tasks, named);
  const reason = textOption(options, "reason");
  const task = await withSpinner(io, `stopping ${id}`, () => tasks.stop(id, { reason }));
  if (isSet(options, "json")) await printJson(io, task);
  else
    await print(
      io,
      withCommandPrefix(
        io,
        `${task.status === "stopped" ? "stopped" : `task is ${task.status}:`} ${keptWords(task)}\n`,
      ),
    );
  return EXIT.done;
}
