/** `rookery task stop`: ends what runs of a task, and keeps its worktree. */
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { asTyped, print, printJson } from "../io.ts";
import { isSet, textOption } from "../options.ts";
import type { TaskDoor } from "./door.ts";
import { findTask } from "./find.ts";
import { keptWords } from "./kept.ts";
import { whileShown } from "./shown.ts";

export async function stopTask({ io, args: [named = ""], options }: Call, { tasks }: TaskDoor): Promise<ExitCode> {
  const { id } = await findTask(tasks, named);
  const reason = textOption(options, "reason");
  const task = await whileShown(io, `stopping ${id}`, () => tasks.stop(id, { reason }));
  if (isSet(options, "json")) await printJson(io, task);
  else
    await print(
      io,
      asTyped(io, `${task.status === "stopped" ? "stopped" : `task is ${task.status}:`} ${keptWords(task)}\n`),
    );
  return EXIT.done;
}
