/** `rookery task remove`: deletes a task, its worktree and its branch if no work is lost, or with --force. */
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatBytes } from "../format.ts";
import { print, printJson } from "../io.ts";
import { isSet } from "../options.ts";
import type { TaskService } from "./service.ts";
import { findTask } from "./find.ts";
import { withSpinner } from "./progress.ts";

export async function removeTaskCommand(
  { io, args: [named = ""], options }: CommandCall,
  { tasks }: TaskService,
): Promise<ExitCode> {
  const { id } = await findTask(tasks, named, io);
  const removed = await withSpinner(io, `removing ${id}`, () => tasks.remove(id, { force: isSet(options, "force") }));
  if (isSet(options, "json")) await printJson(io, removed);
  else await print(io, `removed ${removed.id}; freed ${formatBytes(removed.freed)}\n`);
  return EXIT.done;
}
