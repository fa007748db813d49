/** `rookery task remove`: forgets a task with its worktree and branch, where nothing is lost by it or it is forced. */
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { bytes } from "../format.ts";
import { print, printJson } from "../io.ts";
import { isSet } from "../options.ts";
import type { TaskDoor } from "./door.ts";
import { findTask } from "./find.ts";
import { whileShown } from "./shown.ts";

export async function removeTask({ io, args: [named = ""], options }: Call, { tasks }: TaskDoor): Promise<ExitCode> {
  const { id } = await findTask(tasks, named);
  const removed = await whileShown(io, `removing ${id}`, () => tasks.remove(id, { force: isSet(options, "force") }));
  if (isSet(options, "json")) await printJson(io, removed);
  else await print(io, `removed ${removed.id}; freed ${bytes(removed.freed)}\n`);
  return EXIT.done;
}
